"""One file of each kind, in the manner of real ones."""

DEEPSPEED = """{
  "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 8, "train_batch_size": 128,
  "gradient_clipping": 1.0, "steps_per_print": 50, "wall_clock_breakdown": false,
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3, "overlap_comm": true, "reduce_bucket_size": "auto", "sub_group_size": 1e9,
    "offload_optimizer": {"device": "cpu", "pin_memory": true},
    "offload_param": {"device": "none"}
  },
  "optimizer": {"type": "AdamW", "params": {"lr": 1e-5, "betas": [0.9, 0.95]}},
  "my_extension": {"level": 3}
}"""
DEEPSPEED_AUTO = """{
  "fp16": {"enabled": "auto", "loss_scale": 0, "hysteresis": 2}, "bf16": {"enabled": "auto"},
  "zero_optimization": {"stage": 2, "allgather_partitions": true, "contiguous_gradients": true},
  "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": "auto"
}"""
CALLS = """
tokenizer = AutoTokenizer.from_pretrained("other/tokenizer")
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-2-7b-hf", torch_dtype=torch.bfloat16,  # (a remark)
    quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4",
                                           bnb_4bit_use_double_quant=True),
)
peft_config = LoraConfig(r=16, lora_alpha=32, target_modules=["q_proj", "v_proj"])
args = SFTConfig(
    output_dir="out(1)", per_device_train_batch_size=4, gradient_accumulation_steps=8, bf16=True,
    optim="paged_adamw_8bit", gradient_checkpointing=True, max_length=2048,
    learning_rate=float(rate), dropout_plan=make_plan(3),
)
"""
COMMAND = r"""
torchrun --nproc_per_node=8 --nnodes 2 finetune.py \
    --model_name_or_path Qwen/Qwen2.5-7B --bf16 True --output_dir out \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 4 --model_max_length 4096 \
    --fsdp "full_shard auto_wrap" --optim adamw_torch_fused --gradient_checkpointing \
    --lazy_preprocess True
"""
ARGUMENTS_YAML = """
output_dir: out
per_device_train_batch_size: 8
gradient_accumulation_steps: 1
fp16: true
bf16: false
optim: adafactor
gradient_checkpointing: false
max_seq_length: 1024
"""
ACCELERATE_FSDP = """
compute_environment: LOCAL_MACHINE
debug: false
distributed_type: FSDP
downcast_bf16: 'no'
fsdp_config:
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_backward_prefetch: BACKWARD_PRE
  fsdp_offload_params: true
  fsdp_sharding_strategy: 2
  fsdp_state_dict_type: FULL_STATE_DICT
  fsdp_activation_checkpointing: true
machine_rank: 0
mixed_precision: bf16
num_machines: 2
num_processes: 16
use_cpu: false
"""
ACCELERATE_DEEPSPEED = """
compute_environment: LOCAL_MACHINE
deepspeed_config:
  gradient_accumulation_steps: 4
  offload_optimizer_device: none
  zero3_init_flag: true
  zero_stage: 3
distributed_type: DEEPSPEED
mixed_precision: bf16
num_processes: 8
"""
AXOLOTL = """
base_model: NousResearch/Meta-Llama-3-8B
model_type: LlamaForCausalLM
load_in_4bit: true
load_in_8bit: false
datasets:
  - path: some/data
    type: alpaca
adapter: qlora
sequence_len: 4096
sample_packing: true
lora_r: 32
lora_alpha: 16
lora_target_modules:
lora_target_linear: true
wandb_project:
gradient_accumulation_steps: 4
micro_batch_size: 2
optimizer: paged_adamw_32bit
bf16: auto
tf32: false
gradient_checkpointing: true
flash_attention: true
deepspeed:
special_tokens:
  pad_token: "<|end_of_text|>"
my_own_switch: 7
"""
AXOLOTL_FULL = """
base_model: meta-llama/Llama-3.1-8B
sequence_len: 8192
micro_batch_size: 1
gradient_accumulation_steps: 2
optimizer: adamw_torch_fused
bf16: true
liger_fused_linear_cross_entropy: true
gradient_checkpointing: true
fsdp:
  - full_shard
  - auto_wrap
fsdp_config:
  fsdp_offload_params: false
  fsdp_sharding_strategy: SHARD_GRAD_OP
  fsdp_state_dict_type: FULL_STATE_DICT
"""
LLAMA_FACTORY = """
### model
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
quantization_bit: 4
quantization_method: bitsandbytes
stage: sft
do_train: true
finetuning_type: lora
lora_target: all
dataset: identity,alpaca_en_demo
template: llama3
cutoff_len: 2048
output_dir: saves/sft
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
learning_rate: 1.0e-4
bf16: true
my_field: 1
"""
LLAMA_FACTORY_FULL = """
model_name_or_path: Qwen/Qwen2.5-7B-Instruct
finetuning_type: full
deepspeed: examples/deepspeed/ds_z3_offload_config.json
cutoff_len: 2048
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
disable_gradient_checkpointing: true
bf16: true
"""
TORCHTITAN = """
[job]
dump_folder = "./outputs"
description = "8B"
[metrics]
log_freq = 10
[model]
name = "llama3"
flavor = "8B"
tokenizer_path = "./tokenizer.model"
[optimizer]
name = "AdamW"
lr = 3e-4
implementation = "foreach"
[training]
local_batch_size = 2
seq_len = 8192
steps = 1000
compile = true
dataset = "c4"
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = 8
tensor_parallel_degree = 4
pipeline_parallel_degree = 1
context_parallel_degree = 2
[activation_checkpoint]
mode = "selective"
selective_ac_option = "op"
[mine]
answer = 42
"""
VLLM = """CUDA_VISIBLE_DEVICES=0,1,2,3 vllm serve meta-llama/Llama-3.1-70B-Instruct \\
  --tensor-parallel-size 4 --max-model-len 32768 --max-num-seqs 64 --kv-cache-dtype fp8 \\
  --gpu-memory-utilization 0.92 --port 8000 --enable-prefix-caching --my-plugin on"""
VLLM_MODULE = (
    "python -m vllm.entrypoints.openai.api_server --model TheBloke/Llama-2-13B-chat-AWQ"
    " --quantization awq -tp 2 --max-model-len 4k --kv-cache-dtype fp8_e5m2"
)
VLLM_PYTHON = 'llm = LLM(model="Qwen/Qwen3-8B", tensor_parallel_size=2, max_model_len=16384)'
CONFIG = """{
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
  "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 32, "vocab_size": 32000, "max_position_embeddings": 4096,
  "tie_word_embeddings": false, "_name_or_path": "meta-llama/Llama-2-7b-hf"
}"""
TORCHTUNE = """
model:
  _component_: torchtune.models.llama3_1.qlora_llama3_1_8b
  lora_attn_modules: [q_proj, v_proj]
  lora_rank: 16
tokenizer:
  _component_: torchtune.models.llama3.llama3_tokenizer
  max_seq_len: 4096
batch_size: 2
optimizer:
  _component_: torch.optim.AdamW
  fused: True
gradient_accumulation_steps: 8
enable_activation_checkpointing: True
dtype: bf16
my_switch: 1
"""
MEGATRON = r"""
torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --tensor-model-parallel-size 4 \
    --pipeline-model-parallel-size 2 --sequence-parallel --seq-length 8192 --micro-batch-size 1 \
    --global-batch-size 128 --bf16 --use-distributed-optimizer --hidden-size 4096
"""
SGLANG = """
CUDA_VISIBLE_DEVICES=0,1 SGL_V2=1 python3 -m sglang.launch_server \\
    --model-path meta-llama/Llama-3.3-70B-Instruct --tp 4 --context-length 32768 --my-plugin x
"""
COMPOSE = """
services:
  vllm:
    image: vllm/vllm-openai:latest
    environment: [HF_HUB_OFFLINE=1]
    command: ["--model", "Qwen/Qwen3-8B", "--max-model-len", "16384", "-tp", "2"]
    ports: ["8000:8000"]
"""
TITAN_PYTHON = """
def llama3_8b():
    return Trainer.Config(
        model_spec=model_registry("8B"), hf_assets_path="./assets",
        training=TrainingConfig(local_batch_size=2, seq_len=8192, steps=1000),
        parallelism=ParallelismConfig(tensor_parallel_degree=2),
    )
"""
TEXTS = {name: text for name, text in globals().items() if name.isupper() and name != "TEXTS"}
