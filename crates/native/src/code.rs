//! Machine code in memory: how it is made, who owns it, and when it goes.
//!
//! An [`Assembler`] takes functions one by one; [`Assembler::finish`] makes them executable. The [`Code`] that comes out
//! owns the memory and frees it when dropped. Addresses are only valid while their `Code` lives: whoever calls one
//! borrows the `Code` for as long as the call lasts.

use crate::BuildError;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, Value};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, control::ControlPlane};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use std::sync::{Mutex, OnceLock};

fn failed(e: impl std::fmt::Display) -> BuildError {
    BuildError(format!("no machine code: {e}"))
}

/// The description of this machine, made once.
fn host() -> Result<OwnedTargetIsa, BuildError> {
    static HOST: OnceLock<Result<OwnedTargetIsa, BuildError>> = OnceLock::new();
    HOST.get_or_init(|| {
        if cfg!(target_endian = "big") || !cfg!(target_pointer_width = "64") {
            // States are little-endian, and addresses are handled as 64-bit numbers.
            return Err(failed("this machine is not a little-endian one of 64 bits"));
        }
        let mut flags = settings::builder();
        let verify = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in [
            ("opt_level", "speed"),
            ("enable_verifier", verify),
            ("is_pic", "false"),
            ("unwind_info", "false"),
            ("enable_probestack", "false"),
            ("preserve_frame_pointers", "false"),
            ("enable_heap_access_spectre_mitigation", "false"),
            ("enable_table_access_spectre_mitigation", "false"),
            ("use_colocated_libcalls", "false"),
        ] {
            flags.set(name, value).map_err(failed)?;
        }
        let builder = cranelift_native::builder().map_err(failed)?;
        builder.finish(settings::Flags::new(flags)).map_err(failed)
    })
    .clone()
}

/// The memory, given back when this is dropped.
struct Memory(Option<JITModule>);

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the addresses of this module's functions are only reachable through the `Code` that owns this
            // memory, and are only called while that `Code` is borrowed. It is being dropped, so no call is under way.
            unsafe { module.free_memory() }
        }
    }
}

pub struct Assembler {
    memory: Memory,
    context: Context,
    builder_context: FunctionBuilderContext,
    functions: Vec<FuncId>,
    bytes: usize,
}

impl Assembler {
    pub fn new() -> Result<Assembler, BuildError> {
        let module = JITModule::new(JITBuilder::with_isa(host()?, default_libcall_names()));
        Ok(Assembler {
            context: module.make_context(),
            memory: Memory(Some(module)),
            builder_context: FunctionBuilderContext::new(),
            functions: vec![],
            bytes: 0,
        })
    }

    /// Adds a function of `parameters` 64-bit values that returns one. `body` must end every block it begins.
    pub fn function(
        &mut self,
        parameters: usize,
        body: impl FnOnce(&mut FunctionBuilder, &[Value]),
    ) -> Result<(), BuildError> {
        let module = self.memory.0.as_mut().expect("owned until finished");
        module.clear_context(&mut self.context);
        let signature = &mut self.context.func.signature;
        signature.params.extend((0..parameters).map(|_| AbiParam::new(I64)));
        signature.returns.push(AbiParam::new(I64));
        let id = module.declare_anonymous_function(&self.context.func.signature).map_err(failed)?;
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let parameters = builder.block_params(entry).to_vec();
        body(&mut builder, &parameters);
        builder.seal_all_blocks();
        builder.finalize(module.target_config());
        module
            .define_function_with_control_plane(id, &mut self.context, &mut ControlPlane::default())
            .map_err(failed)?;
        self.bytes += self.context.compiled_code().map_or(0, |code| code.code_buffer().len());
        self.functions.push(id);
        Ok(())
    }

    pub fn finish(mut self) -> Result<Code, BuildError> {
        let module = self.memory.0.as_mut().expect("owned until finished");
        module.finalize_definitions().map_err(failed)?;
        let entries = self.functions.iter().map(|id| module.get_finalized_function(*id) as usize).collect();
        Ok(Code { entries, bytes: self.bytes, _memory: Mutex::new(self.memory) })
    }
}

/// Functions ready to be called.
pub struct Code {
    entries: Vec<usize>,
    bytes: usize,
    /// Only here to be dropped in its time; the lock is what lets threads share the rest.
    _memory: Mutex<Memory>,
}

impl Code {
    /// The addresses of the functions, in the order they were added.
    pub fn entries(&self) -> &[usize] {
        &self.entries
    }

    /// Size of the machine code.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
