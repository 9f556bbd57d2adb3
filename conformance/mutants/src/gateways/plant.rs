//! How bugs and readings are planted in a gateway: a group has what its members share, and a method for each place where one can change something.

use super::bodies::Who;
use super::bodies::drop_member;
use super::bodies::{deep, history, on_args, on_ids, on_images, on_results, on_schemas, on_texts};
use crate::gateway::course::{AnswerHead, ClientEvent, ExchangeCourse, Seam, TestGateway, TriedRequest};
use crate::gateway::places::{ALL, Places, ShowsWhen};
use crate::gateway::said::AnswerNews;
use crate::planted::{Kind, OnGateway, Planted};
use serde_json::Value;
use std::sync::Arc;
use threadspec_apis::{ApiError, ApiRequest, ModelAnswer};
use threadspec_judge::protocol::JudgeProfile;
use threadspec_provider::client::ClientRequest;

/// A change of something that passes.
pub(super) trait ChangeOf<T>: Fn(&mut ExchangeCourse, &mut T) + Copy + Send + Sync + 'static {}

impl<T, F: Fn(&mut ExchangeCourse, &mut T) + Copy + Send + Sync + 'static> ChangeOf<T> for F {}

/// Holds what bugs or readings have in common.
#[derive(Clone, Copy)]
pub(super) struct GatewayGroup {
    /// The clauses that bugs break; the `should` clauses that readings do not follow, whose cases may object.
    clauses: &'static [&'static str],
    places: Places,
    shows: &'static [ShowsWhen],
    is_permitted: bool,
}

/// Begins a group of bugs that show always and everywhere.
pub(super) const fn breaking(clauses: &'static [&'static str]) -> GatewayGroup {
    GatewayGroup { clauses, places: ALL, shows: &[ShowsWhen::Always], is_permitted: false }
}

/// Begins a group of readings that do not follow some `should` clauses.
pub(super) const fn neglecting(clauses: &'static [&'static str]) -> GatewayGroup {
    GatewayGroup { is_permitted: true, ..breaking(clauses) }
}

/// The group of readings that follow every clause.
pub(super) const FREE: GatewayGroup = neglecting(&[]);

/// Makes a seam of a change, which is made where the fault shows.
fn seam<T: 'static>(shows: ShowsWhen, change: impl ChangeOf<T>) -> Seam<T> {
    Some(Arc::new(move |course, value| {
        if shows.holds(course) {
            change(course, value);
        }
    }))
}

impl GatewayGroup {
    /// Narrows the group to some places.
    pub(super) const fn at(self, places: Places) -> Self {
        Self { places, ..self }
    }

    /// Narrows the group to some conditions.
    pub(super) const fn when(self, shows: &'static [ShowsWhen]) -> Self {
        Self { shows, ..self }
    }

    /// Plants a fault for each condition, which its name tells.
    pub(super) fn plant(
        self,
        name: &'static str,
        plant: impl Fn(&mut TestGateway, ShowsWhen) + Copy + Send + Sync + 'static,
    ) -> Vec<Planted> {
        let Self { clauses, places, is_permitted, .. } = self;
        let (breaks, neglects): (_, &[_]) = if is_permitted { (&[][..], clauses) } else { (clauses, &[]) };
        let one = |&shows: &ShowsWhen| {
            let places = if shows == ShowsWhen::ParallelInStreams { places.streams() } else { places };
            // The tables are made once, and live as long as the program.
            let plant = Box::leak(Box::new(move |gateway: &mut TestGateway| plant(gateway, shows)));
            let planted = OnGateway { places, neglects, plant };
            let kind = if is_permitted { Kind::GatewayReading(planted) } else { Kind::GatewayBug(planted) };
            let name = format!("{name}{}", shows.suffix()).leak();
            Planted { name, kind, breaks, profiles: &[JudgeProfile::Universal] }
        };
        self.shows.iter().map(one).collect()
    }

    /// Changes what a plain answer says, and what is new in a stream.
    pub(super) fn both(
        self,
        name: &'static str,
        whole: impl ChangeOf<ModelAnswer>,
        news: impl ChangeOf<Vec<AnswerNews>>,
    ) -> Vec<Planted> {
        self.plant(name, move |gateway, shows| {
            gateway.seams.said = seam(shows, whole);
            gateway.seams.news = seam(shows, news);
        })
    }

    /// Keeps some calls of answers, given their numbers.
    pub(super) fn calls_kept(self, name: &'static str, keeps: fn(usize) -> bool) -> Vec<Planted> {
        self.both(
            name,
            move |_, answer| {
                let mut numbers = 0..;
                answer.calls.retain(|_| numbers.next().is_some_and(keeps));
            },
            move |_, news| news.retain(|news| news.number().is_none_or(keeps)),
        )
    }

    /// Changes the id and the name of each call of answers.
    pub(super) fn named(self, name: &'static str, change: fn(&mut String, &mut String)) -> Vec<Planted> {
        self.both(
            name,
            move |_, answer| answer.calls.iter_mut().for_each(|call| change(&mut call.id, &mut call.name)),
            move |_, news| {
                for one in news {
                    if let AnswerNews::Call { id, name, .. } = one {
                        change(id, name);
                    }
                }
            },
        )
    }

    /// Replaces some statuses of errors by another one.
    pub(super) fn becomes(self, name: &'static str, from: &'static [u16], to: u16) -> Vec<Planted> {
        self.error(name, move |_, error| {
            if from.contains(&error.status) {
                error.status = to;
            }
        })
    }

    /// Changes the texts of those who are meant.
    pub(super) fn texts(self, name: &'static str, who: &'static [Who], change: fn(&str) -> String) -> Vec<Planted> {
        self.body(name, move |_, body| on_texts(body, who, change))
    }

    /// Changes each message of a role.
    pub(super) fn said_by(self, name: &'static str, role: &'static str, change: fn(&mut Value)) -> Vec<Planted> {
        self.history(name, move |history| {
            history.iter_mut().filter(|message| message["role"] == role).for_each(change);
        })
    }

    /// Changes each item of a type.
    pub(super) fn items(self, name: &'static str, of_type: &'static str, change: fn(&mut Value)) -> Vec<Planted> {
        self.history(name, move |history| {
            history.iter_mut().filter(|item| item["type"] == of_type).for_each(change);
        })
    }

    /// Changes the list of messages or items.
    pub(super) fn history(
        self,
        name: &'static str,
        change: impl Fn(&mut Vec<Value>) + Copy + Send + Sync + 'static,
    ) -> Vec<Planted> {
        self.body(name, move |_, body| change(history(body)))
    }

    /// Keeps some members of arguments.
    pub(super) fn members_of_args(self, name: &'static str, keeps: fn(&String, &Value) -> bool) -> Vec<Planted> {
        self.body(name, move |_, body| {
            on_args(body, |args| {
                args.as_object_mut().into_iter().for_each(|members| members.retain(|name, value| keeps(name, value)));
            });
        })
    }

    /// Drops a member of schemas, where its value fits.
    pub(super) fn schemas_without(
        self,
        name: &'static str,
        member: &'static str,
        fits: fn(&Value) -> bool,
    ) -> Vec<Planted> {
        self.body(name, move |_, body| {
            on_schemas(body, |schema| {
                if fits(&schema[member]) {
                    drop_member(schema, member);
                }
            });
        })
    }

    /// Keeps some events for the client.
    pub(super) fn events_kept(self, name: &'static str, keeps: fn(&Value) -> bool) -> Vec<Planted> {
        self.events(name, move |_, events| events.retain(|event| keeps(&event.data)))
    }
}

/// A method for each seam.
macro_rules! seams {
    ($($(#[$about:meta])* $seam:ident: $value:ty;)*) => {
        impl GatewayGroup {
            $($(#[$about])*
            pub(super) fn $seam(self, name: &'static str, change: impl ChangeOf<$value>) -> Vec<Planted> {
                self.plant(name, move |gateway, shows| gateway.seams.$seam = seam(shows, change))
            })*
        }
    };
}

seams! {
    /// Changes the client's request as it comes.
    asked: ClientRequest;
    /// Changes the body for the upstream.
    body: Value;
    /// Changes what a request says, before it is written for the other API.
    request: ApiRequest;
    /// Changes the body of a plain answer, or of an error.
    plain: Value;
    /// Changes events for the client.
    events: Vec<ClientEvent>;
    /// Changes what a plain answer says.
    said: ModelAnswer;
    /// Changes what is new in a stream.
    news: Vec<AnswerNews>;
    /// Changes errors.
    error: ApiError;
    /// Refuses requests.
    refusal: Option<ApiError>;
    /// Changes the request for the upstream.
    sent: ClientRequest;
    /// Sends requests beside it.
    beside: Vec<ClientRequest>;
    /// Sends requests again whose answers failed.
    again: TriedRequest;
    /// Changes the head of the upstream's answer.
    head: AnswerHead;
    /// Changes bytes of the upstream's answer as they come.
    piece: Vec<u8>;
    /// Changes bytes for the client.
    written: Vec<u8>;
    /// Decides whether an answer that broke off is taken for a whole one.
    takes_cuts: bool;
    /// Decides whether an answer that holds an error is taken for a whole one.
    takes_errors: bool;
}

/// A method for each kind of values that a seam passes.
macro_rules! values {
    ($($(#[$about:meta])* $name:ident: $seam:ident, $change:ty, |$change_of:ident, $passed:ident| $apply:expr;)*) => {
        impl GatewayGroup {
            $($(#[$about])*
            pub(super) fn $name(self, name: &'static str, $change_of: $change) -> Vec<Planted> {
                self.$seam(name, move |_, $passed| $apply)
            })*
        }
    };
}

values! {
    /// Changes the body for the upstream, whatever went before.
    bodies: body, fn(&mut Value), |change, body| change(body);
    /// Changes every value inside the body for the upstream.
    inside: body, fn(&mut Value), |change, body| deep(body, &change);
    /// Changes every value inside the body of a plain answer, or of an error.
    inside_plain: plain, fn(&mut Value), |change, body| deep(body, &change);
    /// Changes every value inside the data of events.
    inside_events: events, fn(&mut Value), |change, events| events.iter_mut().for_each(|event| deep(&mut event.data, &change));
    /// Changes the texts of results, those of parts, too.
    results: body, fn(&str) -> String, |change, body| on_results(body, change);
    /// Changes the arguments of calls.
    args: body, fn(&mut Value), |change, body| on_args(body, change);
    /// Changes every value inside arguments.
    inside_args: body, fn(&mut Value), |change, body| on_args(body, |args| deep(args, &change));
    /// Changes the ids of calls and of their results.
    ids: body, fn(&str) -> String, |change, body| on_ids(body, change);
    /// Changes every schema inside those of the tools.
    schemas: body, fn(&mut Value), |change, body| on_schemas(body, change);
    /// Changes every list of parts that has an image.
    images: body, fn(&mut Vec<Value>), |change, body| on_images(body, change);
    /// Changes the data of each event.
    data: events, fn(&mut Value), |change, events| events.iter_mut().for_each(|event| change(&mut event.data));
}
