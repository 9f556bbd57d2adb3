//! The gateway in front of another exchange, in one process: no socket, and no time but that of what stands behind.

use super::{AnswerHead, GatewayAsk, Outgoing, TestGateway};
use std::time::Duration;
use threadspec_provider::client::{ClientRequest, ClientResponse, Exchange};

/// A gateway, and what is behind it.
pub(crate) struct Through<E> {
    pub(crate) gateway: TestGateway,
    pub(crate) upstream: E,
}

impl<E: Exchange> Exchange for Through<E> {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        let (mut sent, mut passage, beside) = match self.gateway.ask(request.clone()) {
            GatewayAsk::Answered(answer) => return heard(vec![answer]),
            GatewayAsk::Sent(sent, passage, beside) => (sent, passage, beside),
        };
        let mut parts = Vec::new();
        loop {
            let Some(ClientResponse { status, headers, pieces, is_whole }) = self.upstream.exchange(&sent) else {
                parts.push(passage.unreachable());
                break;
            };
            let head = AnswerHead { status, headers };
            let mut again = passage.again(&head, false, &mut sent);
            if again.is_none() {
                parts.push(passage.head(head.clone()));
                parts.extend(pieces.iter().map(|piece| passage.data(piece)));
                again = if is_whole { None } else { passage.again(&head, true, &mut sent) };
            }
            let Some(pause) = again else {
                parts.push(passage.end(is_whole));
                break;
            };
            self.upstream.wait(pause);
        }
        self.gateway.settle(&mut passage);
        beside.iter().for_each(|request| drop(self.upstream.exchange(request)));
        heard(parts)
    }

    fn wait(&mut self, time: Duration) {
        self.upstream.wait(time);
    }
}

/// What a client hears of the parts of an answer; `None` if there is no head among them.
fn heard(parts: Vec<Outgoing>) -> Option<ClientResponse> {
    let mut response: Option<ClientResponse> = None;
    for Outgoing { head, data, is_whole } in parts {
        if let Some(AnswerHead { status, headers }) = head {
            response = Some(ClientResponse { status, headers, ..ClientResponse::default() });
        }
        let Some(response) = &mut response else { continue };
        if !data.is_empty() {
            response.pieces.push(data);
        }
        response.is_whole |= is_whole == Some(true);
    }
    response
}
