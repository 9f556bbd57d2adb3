//! How bugs and readings are planted in a gateway.

use crate::gateway::course::{ClientEvent, ExchangeCourse, TestGateway, TriedRequest};
use crate::gateway::places::{Places, ShowsWhen};
use crate::gateway::said::AnswerNews;
use crate::planted::{Kind, OnGateway, Planted};
use serde_json::Value;
use std::sync::Arc;
use threadspec_apis::{ApiError, ApiRequest, ModelAnswer};
use threadspec_judge::protocol::JudgeProfile;

/// What is planted in a gateway.
pub(super) type Plant = Box<dyn Fn(&mut TestGateway, ShowsWhen) + Send + Sync>;

/// A bug that always shows.
pub(super) fn bug(
    name: &'static str,
    breaks: &'static [&'static str],
    places: Places,
    plant: impl Fn(&mut TestGateway, ShowsWhen) + Send + Sync + 'static,
) -> Planted {
    let plant = move |gateway: &mut TestGateway| plant(gateway, ShowsWhen::Always);
    // The tables are made once, and live as long as the program.
    let kind = Kind::GatewayBug(OnGateway { places, neglects: &[], plant: Box::leak(Box::new(plant)) });
    Planted { name, kind, breaks, profiles: &[JudgeProfile::Universal] }
}

/// A bug for each way in which it shows; its name says which.
pub(super) fn bugs(
    name: &'static str,
    breaks: &'static [&'static str],
    places: Places,
    shows: &'static [ShowsWhen],
    plant: Plant,
) -> Vec<Planted> {
    let plant: &'static Plant = Box::leak(Box::new(plant));
    let one = |&shows: &ShowsWhen| {
        let name = if shows == ShowsWhen::Always { name } else { format!("{name}{}", shows.suffix()).leak() };
        let places = if shows == ShowsWhen::ParallelInStreams { places.streams() } else { places };
        bug(name, breaks, places, move |gateway, _| plant(gateway, shows))
    };
    shows.iter().map(one).collect()
}

/// A reading that follows every clause.
pub(super) fn reading(
    name: &'static str,
    places: Places,
    plant: impl Fn(&mut TestGateway, ShowsWhen) + Send + Sync + 'static,
) -> Planted {
    neglecting(name, &[], places, plant)
}

/// A reading that does not follow some `should` clauses, whose cases may object.
pub(super) fn neglecting(
    name: &'static str,
    neglects: &'static [&'static str],
    places: Places,
    plant: impl Fn(&mut TestGateway, ShowsWhen) + Send + Sync + 'static,
) -> Planted {
    let plant = move |gateway: &mut TestGateway| plant(gateway, ShowsWhen::Always);
    let kind = Kind::GatewayReading(OnGateway { places, neglects, plant: Box::leak(Box::new(plant)) });
    Planted { name, kind, breaks: &[], profiles: &[JudgeProfile::Universal] }
}

/// A change of something, where the bug shows.
fn seam<T: 'static>(
    shows: ShowsWhen,
    change: impl Fn(&mut ExchangeCourse, &mut T) + Send + Sync + 'static,
) -> crate::gateway::course::Seam<T> {
    Some(Arc::new(move |course, value| {
        if shows.holds(course) {
            change(course, value);
        }
    }))
}

/// Changes the body for the upstream.
pub(super) fn body(change: impl Fn(&mut ExchangeCourse, &mut Value) + Copy + Send + Sync + 'static) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.body = seam(shows, change))
}

/// Changes what a request says, before it is written for the other API.
pub(super) fn request(change: impl Fn(&mut ExchangeCourse, &mut ApiRequest) + Copy + Send + Sync + 'static) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.request = seam(shows, change))
}

/// Changes the body of a plain answer, or of an error.
pub(super) fn plain(change: impl Fn(&mut ExchangeCourse, &mut Value) + Copy + Send + Sync + 'static) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.plain = seam(shows, change))
}

/// Changes events for the client.
pub(super) fn events(
    change: impl Fn(&mut ExchangeCourse, &mut Vec<ClientEvent>) + Copy + Send + Sync + 'static,
) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.events = seam(shows, change))
}

/// Changes what a plain answer says, or what is new in a stream.
pub(super) fn said(
    whole: impl Fn(&mut ExchangeCourse, &mut ModelAnswer) + Copy + Send + Sync + 'static,
    news: impl Fn(&mut ExchangeCourse, &mut Vec<AnswerNews>) + Copy + Send + Sync + 'static,
) -> Plant {
    Box::new(move |gateway, shows| {
        gateway.seams.said = seam(shows, whole);
        gateway.seams.news = seam(shows, news);
    })
}

/// Changes what is new in a stream.
pub(super) fn news(change: impl Fn(&mut ExchangeCourse, &mut Vec<AnswerNews>) + Copy + Send + Sync + 'static) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.news = seam(shows, change))
}

/// Changes errors.
pub(super) fn error(change: impl Fn(&mut ExchangeCourse, &mut ApiError) + Copy + Send + Sync + 'static) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.error = seam(shows, change))
}

/// Refuses requests.
pub(super) fn refusing(
    change: impl Fn(&mut ExchangeCourse, &mut Option<ApiError>) + Copy + Send + Sync + 'static,
) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.refusal = seam(shows, change))
}

/// Changes the request for the upstream.
pub(super) fn sent(
    change: impl Fn(&mut ExchangeCourse, &mut threadspec_provider::client::ClientRequest) + Copy + Send + Sync + 'static,
) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.sent = seam(shows, change))
}

/// Sends requests again whose answers failed.
pub(super) fn again(change: impl Fn(&mut ExchangeCourse, &mut TriedRequest) + Copy + Send + Sync + 'static) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.again = seam(shows, change))
}

/// Changes bytes of the upstream's answer as they come.
pub(super) fn pieces(change: impl Fn(&mut ExchangeCourse, &mut Vec<u8>) + Copy + Send + Sync + 'static) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.piece = seam(shows, change))
}

/// Changes bytes for the client.
pub(super) fn written(change: impl Fn(&mut ExchangeCourse, &mut Vec<u8>) + Copy + Send + Sync + 'static) -> Plant {
    Box::new(move |gateway, shows| gateway.seams.written = seam(shows, change))
}
