//! A cluster that comes together when the first search needs it: what is wrong with the model or the options is told before anybody waits.

use crate::cluster::Cluster;
use std::fmt;
use std::sync::OnceLock;

type Make = Box<dyn Fn() -> Result<Cluster, String> + Send + Sync>;

pub struct Gathering {
    make: Make,
    made: OnceLock<Result<Cluster, String>>,
}

impl Gathering {
    pub fn new(make: impl Fn() -> Result<Cluster, String> + Send + Sync + 'static) -> Gathering {
        Gathering { make: Box::new(make), made: OnceLock::new() }
    }

    /// The cluster, once all are here; or why it did not come together.
    pub fn cluster(&self) -> Result<&Cluster, String> {
        self.made.get_or_init(|| (self.make)()).as_ref().map_err(String::clone)
    }
}

impl From<Cluster> for Gathering {
    fn from(cluster: Cluster) -> Gathering {
        let made = OnceLock::from(Ok(cluster));
        Gathering { make: Box::new(|| Err("the cluster is there already".to_string())), made }
    }
}

impl fmt::Debug for Gathering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.made.get() {
            Some(Ok(cluster)) => write!(f, "{cluster:?}"),
            Some(Err(why)) => f.write_str(why),
            None => f.write_str("a cluster that is not there yet"),
        }
    }
}
