"""llama-server with a model of 120 KB, to be probed: random weights, a tokenizer of bytes and letters, a chat template with tools.

    python3 -m venv target/llama && target/llama/bin/pip install gguf==0.19.0 xllamacpp==2026.10.11549
    target/llama/bin/python conformance/probe/llama-server.py 8080

The wheel of xllamacpp has llama-server inside; no weights are downloaded. Whatever is asked, the model says random letters.
"""

import sys
import tempfile
import time
from pathlib import Path

import gguf
import numpy
import xllamacpp

WIDTH, HEADS, FORWARD, CONTEXT = 32, 4, 64, 32768
CHATML = """{%- if tools %}<|im_start|>system
Tools: {{ tools | tojson }}<|im_end|>
{% endif %}{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.content %}{{ message.content }}{% endif %}{% for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def write(path):
    random, kinds = numpy.random.default_rng(1), gguf.TokenType
    controls, letters = ["<|im_start|>", "<|im_end|>"], ["\u2581", *"abcdefghijklmnopqrstuvwxyz"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *controls, *letters]
    types = [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL, *[kinds.BYTE] * 256, *[kinds.CONTROL] * len(controls), *[kinds.NORMAL] * len(letters)]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_chat_template(CHATML)

    def tensor(name, *shape, first=None):
        weights = random.normal(0, 0.3, shape).astype(numpy.float32)
        if first is not None:
            weights[:, 0] = first
        writer.add_tensor(f"{name}.weight", weights)

    # All tokens share their first number. By it the output tells letters, which alone are said, from bytes and control tokens: half a call or a
    # broken character would fail in the server's own parser.
    tensor("token_embd", len(tokens), WIDTH, first=8)
    tensor("output", len(tokens), WIDTH, first=[0 if kind == kinds.NORMAL else -100 for kind in types])
    writer.add_tensor("output_norm.weight", numpy.ones(WIDTH, numpy.float32))
    for name in "attn_norm", "ffn_norm":
        tensor(f"blk.0.{name}", WIDTH)
    for name in "attn_q", "attn_k", "attn_v", "attn_output":
        tensor(f"blk.0.{name}", WIDTH, WIDTH)
    for name in "ffn_gate", "ffn_up":
        tensor(f"blk.0.{name}", FORWARD, WIDTH)
    tensor("blk.0.ffn_down", WIDTH, FORWARD)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "tiny.gguf"
    write(path)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames, params.port = ["127.0.0.1"], int(sys.argv[1])
    params.use_jinja, params.warmup, params.n_ctx = True, False, CONTEXT
    params.cpuparams.n_threads, params.n_gpu_layers = 1, 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass
