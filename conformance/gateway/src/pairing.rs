//! Pairs the attempts at the provider with the exchanges that caused them.

use crate::exchange::ClientExchange;
use crate::run::{GatewayAttempts, GatewayRun};
use crate::sent::SentByClient;
use std::time::Duration;
use threadspec_apis::ApiRequest;
use threadspec_provider::Attempt;

/// The most that the clocks of both sides may differ.
const TOLERANCE: Duration = Duration::from_millis(5);

impl GatewayRun<'_> {
    /// The attempts that came because of each exchange, by their positions in the record, and those that came because of none.
    ///
    /// An attempt belongs to the exchange during which it came. If there were several, it is the one whose request it is most like, and of
    /// those alike the first that has none yet.
    pub fn attempts(&self) -> GatewayAttempts {
        pair(self)
    }
}

fn pair(run: &GatewayRun<'_>) -> GatewayAttempts {
    let mut pairs = GatewayAttempts { of_exchanges: vec![Vec::new(); run.exchanges.len()], unasked: Vec::new() };
    for (position, attempt) in run.record.attempts.iter().enumerate() {
        let within = |tolerance| -> Vec<usize> {
            (0..run.exchanges.len()).filter(|&one| is_during(&run.exchanges[one], attempt, tolerance)).collect()
        };
        // The next request may follow within the tolerance, and what a gateway made of it be more like the one before.
        let exactly = within(Duration::ZERO);
        let during = if exactly.is_empty() { within(TOLERANCE) } else { exactly };
        let found = match during[..] {
            [] => None,
            [only] => Some(only),
            _ => during.iter().copied().max_by_key(|&exchange| {
                let is_free = pairs.of_exchanges[exchange].is_empty();
                (likeness(&run.exchanges[exchange], attempt), is_free, std::cmp::Reverse(exchange))
            }),
        };
        match found {
            Some(exchange) => pairs.of_exchanges[exchange].push(position),
            None => pairs.unasked.push(position),
        }
    }
    pairs
}

fn is_during(exchange: &ClientExchange, attempt: &Attempt, tolerance: Duration) -> bool {
    exchange.began <= attempt.at + tolerance && attempt.at <= exchange.ended + tolerance
}

/// How many of the texts of an attempt are in a request.
fn likeness(exchange: &ClientExchange, attempt: &Attempt) -> usize {
    let (Some(sent), Some(arrived)) = (SentByClient::read(exchange), &attempt.request) else { return 0 };
    let texts = |request: &ApiRequest| -> Vec<String> {
        request.messages.iter().map(|message| message.content.trim().to_owned()).collect()
    };
    let known = texts(&sent.request);
    let same = texts(arrived).iter().filter(|text| known.contains(text)).count();
    // Of two requests of which one goes on from the other, the one that is as long.
    2 * same + usize::from(known.len() == arrived.messages.len())
}
