//! Random timer histories on three services, any of which gets each request: the results are the same as on one.

use super::super::postgres::Cluster;
use super::{Replica, two};
use crate::v1::timers::model::{Services, live_all, lives};

#[test]
fn firings_of_three_replicas_match_the_model() {
    let cluster = Cluster::start();
    let (first, second) = two(&cluster);
    let third = Replica::join(&first, &cluster.url);
    let services = Services::of(vec![
        Box::new(|request| first.send(request)),
        Box::new(|request| second.send(request)),
        Box::new(|request| third.send(request)),
    ]);
    live_all(&services, lives());
    drop(services);
    drop((second, third));
    first.audit();
}
