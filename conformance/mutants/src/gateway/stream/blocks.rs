//! Parts of an answer one behind the other, whatever way their fragments come: what belongs to a part that cannot begin yet waits.

use super::super::said::AnswerNews;
use std::collections::VecDeque;

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Thinking,
    Text,
    Refusal,
    Call { number: usize, id: String, name: String },
}

/// What happens to the part that is open, or begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockStep {
    Opens(BlockKind),
    Fragment(String),
    Seal(String),
    Closes,
}

#[derive(Clone, Debug)]
struct WaitingBlock {
    kind: BlockKind,
    text: String,
    seal: Option<String>,
    is_closed: bool,
}

/// The parts that have not ended; the first one is open.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockLine {
    waiting: VecDeque<WaitingBlock>,
    is_open: bool,
}

impl BlockLine {
    /// What is to be written now that this is new.
    pub(super) fn tell(&mut self, news: &AnswerNews) -> Vec<BlockStep> {
        match news {
            AnswerNews::Thinking(text) => self.fragment(BlockKind::Thinking, text),
            AnswerNews::Text(text) => self.fragment(BlockKind::Text, text),
            AnswerNews::Refusal(text) => self.fragment(BlockKind::Refusal, text),
            AnswerNews::Seal(seal) => {
                if let Some(block) = self.waiting.iter_mut().rfind(|block| block.kind == BlockKind::Thinking) {
                    block.seal = Some(seal.clone());
                } else {
                    self.begin(BlockKind::Thinking);
                    self.waiting.iter_mut().last().into_iter().for_each(|block| block.seal = Some(seal.clone()));
                }
            }
            AnswerNews::Call { number, id, name } => {
                self.begin(BlockKind::Call { number: *number, id: id.clone(), name: name.clone() });
            }
            AnswerNews::Arguments { number, text } => {
                self.call(*number).into_iter().for_each(|block| block.text += text);
            }
            AnswerNews::Closed { number } => self.call(*number).into_iter().for_each(|block| block.is_closed = true),
        }
        self.steps()
    }

    /// What is to be written at the end.
    pub(super) fn end(&mut self) -> Vec<BlockStep> {
        self.waiting.iter_mut().for_each(|block| block.is_closed = true);
        self.steps()
    }

    fn call(&mut self, own: usize) -> Option<&mut WaitingBlock> {
        let is_it = |block: &&mut WaitingBlock| matches!(block.kind, BlockKind::Call { number, .. } if number == own);
        self.waiting.iter_mut().find(is_it)
    }

    fn begin(&mut self, kind: BlockKind) {
        // A text ends where something else begins; the fragments of a call may go on behind it.
        if let Some(last) = self.waiting.back_mut().filter(|last| !matches!(last.kind, BlockKind::Call { .. })) {
            last.is_closed = true;
        }
        self.waiting.push_back(WaitingBlock { kind, text: String::new(), seal: None, is_closed: false });
    }

    fn fragment(&mut self, kind: BlockKind, text: &str) {
        let is_last = |block: &&mut WaitingBlock| block.kind == kind && !block.is_closed && block.seal.is_none();
        if let Some(block) = self.waiting.back_mut().filter(is_last) {
            block.text += text
        } else {
            self.begin(kind);
            self.waiting.back_mut().into_iter().for_each(|block| text.clone_into(&mut block.text));
        }
    }

    fn steps(&mut self) -> Vec<BlockStep> {
        let mut steps = Vec::new();
        while let Some(block) = self.waiting.front_mut() {
            if !std::mem::replace(&mut self.is_open, true) {
                steps.push(BlockStep::Opens(block.kind.clone()));
            }
            if !block.text.is_empty() {
                steps.push(BlockStep::Fragment(std::mem::take(&mut block.text)));
            }
            if !block.is_closed {
                break;
            }
            steps.extend(block.seal.take().map(BlockStep::Seal));
            steps.push(BlockStep::Closes);
            self.waiting.pop_front();
            self.is_open = false;
        }
        steps
    }
}
