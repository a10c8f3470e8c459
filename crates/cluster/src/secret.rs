//! What the processes of a cluster know and nobody else does, and how they prove it without saying it.

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io;
use std::path::Path;

/// The variable of the environment with the secret.
pub const VARIABLE: &str = "SCRIMP_SECRET";
/// Bytes that a secret has at least.
const LEAST: usize = 16;
/// Bytes of a file that may be a secret.
const MOST: u64 = 1 << 16;

pub type Nonce = [u8; 32];
pub type Proof = [u8; 32];

/// A shared secret.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret")
    }
}

impl Secret {
    /// From a text; white space around it does not matter.
    pub fn new(text: &[u8]) -> Result<Secret, String> {
        let text = text.trim_ascii();
        if text.len() < LEAST {
            let why = format!("the secret has {} bytes, expected at least {LEAST}", text.len());
            return Err(format!("{why}; make one with `head -c 32 /dev/urandom | base64`"));
        }
        Ok(Secret(Sha256::digest(text).into()))
    }

    /// From a file, or else from the environment.
    pub fn find(file: Option<&Path>) -> Result<Secret, String> {
        let Some(file) = file else {
            let text = std::env::var(VARIABLE).map_err(|_| {
                format!("there is no secret; name a file with --secret FILE, or set the variable {VARIABLE}")
            })?;
            return Secret::new(text.as_bytes());
        };
        let wrong = |e: io::Error| format!("--secret {}: {e}", file.display());
        if file.metadata().map_err(wrong)?.len() > MOST {
            return Err(format!("--secret {}: the file is too large to be a secret", file.display()));
        }
        Secret::new(&std::fs::read(file).map_err(wrong)?).map_err(|why| format!("--secret {}: {why}", file.display()))
    }

    /// A new one, as a text.
    pub fn text() -> Result<String, String> {
        let bytes = random()?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Shows that whoever says this, in this role, knows the secret.
    pub fn proof(&self, role: &str, said: &[u8], nonce: &Nonce) -> Proof {
        self.mac(role, said, nonce).finalize().into_bytes().into()
    }

    /// Is it such a proof? Takes as long for one that is nearly right.
    pub fn accepts(&self, proof: &Proof, role: &str, said: &[u8], nonce: &Nonce) -> bool {
        self.mac(role, said, nonce).verify_slice(proof).is_ok()
    }

    fn mac(&self, role: &str, said: &[u8], nonce: &Nonce) -> Hmac<Sha256> {
        // A key of 32 bytes is none that could be refused.
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.0).unwrap_or_else(|_| unreachable!());
        for part in [role.as_bytes(), &[0], said, nonce] {
            mac.update(part);
        }
        mac
    }
}

/// Bytes that nobody can guess.
pub fn random() -> Result<Nonce, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| format!("this system has no random numbers: {e}"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_knows_the_secret_has_the_proof() {
        let (one, other) = (Secret::new(b"sixteen bytes...\n").unwrap(), Secret::new(b"other bytes.....").unwrap());
        let nonce = random().unwrap();
        let proof = one.proof("client", b"hello", &nonce);
        assert!(one.accepts(&proof, "client", b"hello", &nonce));
        assert!(!other.accepts(&proof, "client", b"hello", &nonce));
        assert!(!one.accepts(&proof, "server", b"hello", &nonce));
        assert!(!one.accepts(&proof, "client", b"hullo", &nonce));
        assert!(!one.accepts(&proof, "client", b"hello", &random().unwrap()));
        assert!(Secret::new(b" short \n").is_err());
    }
}
