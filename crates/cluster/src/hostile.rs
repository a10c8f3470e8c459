//! What strangers send, and what somebody sends who knows the secret and says nothing that makes sense: whoever hears it says so, in time,
//! and goes on or ends.

use crate::control::{SHORT, SILENCE, ToFirst, ToOthers, Voice, hear, hear_within};
use crate::door::Door;
use crate::handshake::{Caller, Purpose, call};
use crate::job::{Aim, Job};
use crate::meeting::{Company, Terms, gather};
use crate::secret::Secret;
use scrimp_checker::Loaded;
use scrimp_native::{Mode, NativeModel};
use scrimp_system::Random;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

fn secret() -> Secret {
    Secret::new(b"a secret for tests").unwrap()
}

fn door() -> Door {
    Door::open(&["127.0.0.1:0".parse().unwrap()], &secret()).unwrap()
}

fn caller(index: u32) -> Caller {
    Caller { purpose: Purpose::Control, index, session: [0; 16] }
}

/// Two ends of a connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (one, listener.accept().unwrap().0)
}

/// Messages that no process says: noise, lengths that nothing follows, wrong words.
fn nonsense() -> Vec<Vec<u8>> {
    let framed = |text: &[u8]| [&(text.len() as u32).to_le_bytes()[..], text].concat();
    let huge = u64::MAX.to_le_bytes();
    let mut all = vec![
        vec![0xff; 64],
        u32::MAX.to_le_bytes().to_vec(),
        (SHORT + 1).to_le_bytes().to_vec(),
        framed(&[]),
        framed(&[0xff; 40]),
        b"GET / HTTP/1.0\r\n\r\n".to_vec(),
        // An introduction whose version is as long as nothing can be, and one whose command has as many words.
        framed(&[&0u32.to_le_bytes()[..], &huge, b"abc"].concat()),
        framed(&[&0u32.to_le_bytes()[..], &0u64.to_le_bytes(), &2u32.to_le_bytes(), &[1], &huge].concat()),
        framed(&[&0u32.to_le_bytes()[..], &(1u64 << 40).to_le_bytes()].concat()),
        // What comes at another time.
        framed(&bincode::serialize(&ToFirst::Ready).unwrap()),
        framed(&bincode::serialize(&ToFirst::Failed("no".to_string())).unwrap()),
    ];
    let mut random = Random(11);
    for length in [5, 9, 30, 200] {
        all.push(framed(&(0..length).map(|_| random.below(256) as u8).collect::<Vec<u8>>()));
    }
    all
}

#[test]
fn messages_that_make_no_sense_are_errors() {
    for bytes in nonsense() {
        let (mut one, other) = pair();
        one.write_all(&bytes).unwrap();
        one.shutdown(Shutdown::Write).unwrap();
        match hear_within::<ToFirst>(&other, SHORT, SILENCE) {
            Err(_) | Ok(ToFirst::Ready | ToFirst::Failed(_) | ToFirst::Stop(_)) => {}
            said => panic!("{bytes:?}: {said:?}"),
        }
        let _ = hear::<ToOthers>(&mut &bytes[..], SHORT);
    }
    let lists = [&0u32.to_le_bytes()[..], &u64::MAX.to_le_bytes()].concat();
    assert!(bincode::deserialize::<ToOthers>(&lists).is_err(), "a welcome with very many addresses");
}

/// A byte now and then is no message, however long somebody waits.
#[test]
fn who_is_slow_does_not_hold_others_up() {
    let (mut one, other) = pair();
    let drips = thread::spawn(move || {
        let text = bincode::serialize(&ToFirst::Failed("slowly".to_string())).unwrap();
        let bytes = [&(text.len() as u32).to_le_bytes()[..], &text].concat();
        bytes.iter().all(|byte| {
            thread::sleep(Duration::from_millis(50));
            one.write_all(&[*byte]).is_ok()
        })
    });
    let begun = Instant::now();
    let error = hear_within::<ToFirst>(&other, SHORT, Duration::from_millis(300)).unwrap_err();
    assert!(matches!(error.kind(), std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock), "{error}");
    assert!(begun.elapsed() < Duration::from_millis(1500));
    drop(other);
    let _ = drips.join();
}

/// Whoever knows the secret and then makes no sense ends the meeting, with his number.
#[test]
fn a_meeting_ends_where_somebody_makes_no_sense() {
    let terms = Terms { processes: 3, threads: 1, command: None };
    for (at, bytes) in nonsense().into_iter().enumerate() {
        let door = door();
        let address = door.address;
        let stranger = thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            call(&stream, &secret(), caller(2)).unwrap();
            let _ = stream.write_all(&bytes);
            let _ = stream.shutdown(Shutdown::Write);
            hear_within::<ToOthers>(&stream, SHORT, SILENCE)
        });
        let deadline = Instant::now() + Duration::from_secs(20);
        let met = gather(&door, &terms, String::new(), deadline, &mut || None);
        let why = met.map(|Company { .. }| ()).unwrap_err();
        assert!(why.starts_with("process 2: "), "{at}: {why}");
        assert!(matches!(stranger.join().unwrap(), Ok(ToOthers::Refused(_)) | Err(_)), "{at}");
    }
}

/// Many who say nothing, or half of what they should, or too much: whoever knows the secret comes in all the same.
#[test]
fn a_crowd_at_the_door_keeps_nobody_out() {
    let door = door();
    let connect = || TcpStream::connect(door.address).unwrap();
    let mut crowd: Vec<TcpStream> = (0..400).map(|_| connect()).collect();
    for (at, stranger) in crowd.iter_mut().enumerate() {
        let _ = match at % 4 {
            0 => stranger.write_all(b"scrimp\x01c\x01\x01\0\0\0"),
            1 => stranger.write_all(&[b"scrimp\x01c".as_slice(), &[1; 53], &[7; 32]].concat()),
            2 => stranger.write_all(b"no"),
            _ => Ok(()),
        };
    }
    let begun = Instant::now();
    let stream = connect();
    call(&stream, &secret(), caller(1)).unwrap();
    let (came, mut inside) = door.next(Instant::now() + Duration::from_secs(5)).unwrap();
    assert_eq!(came, caller(1));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    // The connection is in order: no time runs out on it, and nothing was read too far.
    Voice::new(&stream).unwrap().say(&ToFirst::Ready).unwrap();
    assert_eq!(hear::<ToFirst>(&mut inside, SHORT).unwrap(), ToFirst::Ready);
    // Those who waited longest had to go.
    crowd[3].set_read_timeout(Some(Duration::from_secs(3))).unwrap();
    assert!(matches!(crowd[3].read(&mut [0; 1]), Ok(0) | Err(_)));
    assert!(door.turned_away.told().is_some());
}

/// A job with a wrong byte is refused, or it is another job that can be done.
#[test]
fn a_damaged_job_is_refused() {
    let model = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/peterson3.dve");
    let system = Loaded::open(&model).unwrap_or_else(|e| panic!("{e}")).system;
    let model = NativeModel::new(system, Mode::Interpreted).unwrap();
    let job = Job::new(&model, Aim::States { goals: Vec::new(), keep_going: false, keeping: None }, (2, 1));
    let text = bincode::serialize(&job).unwrap();
    assert!(bincode::deserialize::<Job>(&text).unwrap().task(1 << 30, (2, 1)).is_ok());
    let mut refused = 0;
    let mut random = Random(5);
    for _ in 0..300 {
        let mut damaged = text.clone();
        let at = random.below(damaged.len());
        damaged[at] ^= 1 << random.below(8);
        refused +=
            bincode::deserialize::<Job>(&damaged).map_or(true, |job| job.task(1 << 30, (2, 1)).is_err()) as usize;
    }
    assert!(refused > 200, "{refused}");
    assert!((0..text.len()).all(|cut| bincode::deserialize::<Job>(&text[..cut]).is_err()));
    assert!(bincode::deserialize::<Job>(&[0xff; 4096]).is_err());
}
