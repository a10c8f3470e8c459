//! Steps to a smaller program: leaving out lines, options and blocks, or the shell of a block, one at a time.

use super::tree::{Form, Node, Program};

/// The program after its `number`th possible change.
pub(super) fn change(program: &Program, number: usize) -> Option<Program> {
    let mut left = number;
    changed(&program.0, &mut left).map(Program)
}

fn changed(nodes: &[Node], left: &mut usize) -> Option<Vec<Node>> {
    let mut now = || {
        let now = *left == 0;
        *left = left.wrapping_sub(1);
        now
    };
    for (i, node) in nodes.iter().enumerate() {
        let replaced = |with: Vec<Node>| Some([&nodes[..i], &with, &nodes[i + 1..]].concat());
        if now() {
            return replaced(Vec::new());
        }
        let Node::Block(block) = node else { continue };
        for (k, part) in block.parts.iter().enumerate() {
            // The part alone, in the place of the block.
            if now() {
                return replaced(part.clone());
            }
            if matches!(block.form, Form::If | Form::Do) && block.parts.len() > 1 && now() {
                let mut block = block.clone();
                block.parts.remove(k);
                return replaced(vec![Node::Block(block)]);
            }
        }
    }
    for (i, node) in nodes.iter().enumerate() {
        let Node::Block(block) = node else { continue };
        for (k, part) in block.parts.iter().enumerate() {
            if let Some(part) = changed(part, left) {
                let mut block = block.clone();
                block.parts[k] = part;
                return Some([&nodes[..i], &[Node::Block(block)], &nodes[i + 1..]].concat());
            }
        }
    }
    None
}
