#compdef lengthen
# Made by `lengthen help --completion zsh`; do not edit by hand.
local -a commands
commands=(
    'demo:train on short sequences, then answer long ones'
    'try:will a task or your data extrapolate; with which positions'
    'couple:position IDs for your data, found from examples alone'
    'train:train the model of a config; keeps the run in a folder'
    'eval:what a run can do, length by length'
    'generate:what a run'\''s model writes, token by token and ID by ID'
    'sweep:many runs over a config\: trained, evaluated, in one table'
    'reproduce:an experiment to its rows, figures and checks'
    'import:a run from published weights\: Hugging Face, llama2.c'
    'export:a run'\''s model as a folder that other tools read'
    'runs:list, show, compare and delete the runs in the store'
    'report:runs and results as one HTML file, with figures'
    'serve:the runs of the store in a browser, as they train'
    'tasks:the tasks\: formats, settings, examples'
    'sample:print examples of a task with their position IDs'
    'positions:the position IDs and encodings, with their formulas'
    'config:the keys of a config\: ranges, defaults, meanings'
    'tokenizer:text to tokens and back; learn them from your own text'
    'certify:prove a run right at every length, or show where it fails'
    'probe:how many earlier tokens a run'\''s predictions need'
    'theory:fit the idealised class of the theory to planted ensembles'
    'bench:measure this machine, each kernel and the whole step'
    'doctor:this machine and installation; what would be faster'
)
if ((CURRENT == 2)); then
    _describe command commands
    return
fi
case ${words[2]}:${words[CURRENT-1]} in
    train:--compare-with) compadd --  nothing reference ;;
    eval:--source) compadd --  given predicted ;;
    generate:--source) compadd --  given predicted ;;
    probe:--method) compadd --  loo gradient ;;
    theory:--local) compadd --  own none ;;
    theory:--coupled) compadd --  no yes ;;
    theory:--scores) compadd --  tuples words ;;
    theory:--g) compadd --  table sign ;;
    bench:--only) compadd --  peak kernel task text step generate probe ;;
    bench:--precision) compadd --  fp32 bf16 ;;
    bench:--against) compadd --  torch ;;
    *:--set) compadd -S '' -- seed= task.name= positions.ids= positions.levels= positions.coupling= positions.max_id= positions.chunks= positions.target= positions.cut_anywhere= positions.random_start= positions.source= positions.match= positions.reach= positions.encoding= positions.span= positions.window= positions.rope.share= positions.rope.base= positions.rope.scaling= positions.rope.factor= positions.rope.length= model.arch= model.layers= model.width= model.heads= model.ff= model.norm= model.norm_eps= model.act= model.biases= model.parallel= model.loops= model.inject= model.tied= model.attention= model.sink= train.init_from= train.steps= train.batch= train.lr= train.min_lr_ratio= train.warmup= train.cooldown= train.schedule= train.weight_decay= train.beta1= train.beta2= train.eps= train.grad_clip= train.id_weight= train.precision= train.groups= train.length= train.sparsity= train.curriculum= train.curriculum_steps= train.curriculum_at= train.checkpoint_every= train.keep= train.stop_at= train.certify.every= train.certify.feedback= eval.lengths= eval.sparsities= eval.samples= eval.every= ;;
    *) case ${words[2]}:$PREFIX in
    demo:-*) compadd -- --seed --out --plot --json --help ;;
    try:-*) compadd -- --minutes --set --length --seed --seeds --schemes --out --plot --size --json --csv --help ;;
    couple:-*) compadd -- --forget --set --lines --length --steps --minutes --seed --out --store --threads --json --help ;;
    train:-*) compadd -- --set --out --resume --allow-exec --fallback --store --threads --timeout --dry-run --compare-with --json --tensorboard --help ;;
    eval:-*) compadd -- --lengths --sparsities --vary --task --text --field --context --samples --source --allow-exec --by-context --force --fallback --store --threads --plot --size --measure --title --json --csv --help ;;
    generate:-*) compadd -- --length --sparsity --count --prompt --prompt-ids --source --temperature --seed --fallback --max-tokens --allow-exec --json --help ;;
    sweep:-*) compadd -- --jobs --set --scale --only --part --certify --tell --out --store --threads --table --plot --size --measure --json --csv --help ;;
    reproduce:-*) compadd -- --list --scale --only --minutes --experiments --results --out --store --jobs --threads --json --help ;;
    import:-*) compadd -- --tokenizer --text --field --help ;;
    export:-*) compadd -- --fallback --help ;;
    runs:-*) compadd -- --task --state --last --steps --csv --yes --plot --size --measure --store --json --help ;;
    report:-*) compadd -- --out --title --generate --prompt --no-passage --store --experiments --results --allow-exec --fallback --help ;;
    serve:-*) compadd -- --port --address --host --store --help ;;
    tasks:-*) compadd -- --json --markdown --help ;;
    sample:-*) compadd -- --length --sparsity --set --count --seed --ids --levels --train --max-id --target --chunks --cut-anywhere --random-start --source --reach --json --html --prompt --window --help ;;
    positions:-*) compadd -- --json --markdown --help ;;
    config:-*) compadd -- --json --markdown --help ;;
    tokenizer:-*) compadd -- --vocab --save --field --string --pieces --json --help ;;
    certify:-*) compadd -- --max-contexts --confirm --data --fresh --samples --sample --lengths --share --confidence --failures --allow-exec --fallback --threads --json --help ;;
    probe:-*) compadd -- --against --text --field --task --length --documents --predictions --method --epsilon --min-rise --keep-last --drop-first --max-k --fallback --out --allow-exec --store --threads --json --help ;;
    theory:-*) compadd -- --train-lengths --test-lengths --k --local --coverage --coupled --scores --patterns --offsets --window --g --unordered --seeds --seed --steps --until --batch --rate --samples --out --title --threads --json --class --length --plot --where --help ;;
    bench:-*) compadd -- --only --shape --precision --against --python --rounds --tokenizer --text --threads --seconds --scale --latency --bandwidth --json --help ;;
    doctor:-*) compadd -- --quick --json --help ;;
    tasks:* | sample:* | try:*) compadd -- parity parity-scratchpad sparse-parity sparse-parity-scratchpad variable-assignment retrieval planted addition subtraction multi-addition multiplication copy reverse sort majority flip-flop machine jsonl exec text; _files ;;
    config:*) compadd -- seed task.name positions.ids positions.levels positions.coupling positions.max_id positions.chunks positions.target positions.cut_anywhere positions.random_start positions.source positions.match positions.reach positions.encoding positions.span positions.window positions.rope.share positions.rope.base positions.rope.scaling positions.rope.factor positions.rope.length model.arch model.layers model.width model.heads model.ff model.norm model.norm_eps model.act model.biases model.parallel model.loops model.inject model.tied model.attention model.sink train.init_from train.steps train.batch train.lr train.min_lr_ratio train.warmup train.cooldown train.schedule train.weight_decay train.beta1 train.beta2 train.eps train.grad_clip train.id_weight train.precision train.groups train.length train.sparsity train.curriculum train.curriculum_steps train.curriculum_at train.checkpoint_every train.keep train.stop_at train.certify.every train.certify.feedback eval.lengths eval.sparsities eval.samples eval.every ;;
    help:*) _describe command commands ;;
    *) _files ;;
    esac ;;
esac
