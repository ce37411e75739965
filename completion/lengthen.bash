# Made by `lengthen help --completion bash`; do not edit by hand.
_lengthen() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} words=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="demo try couple train eval generate sweep reproduce import export runs report serve tasks sample positions config tokenizer certify probe theory bench doctor help --help --version"
        COMPREPLY=($(compgen -W "$words" -- "$word"))
        return
    fi
    case $command:${COMP_WORDS[COMP_CWORD - 1]} in
    train:--compare-with) words=" nothing reference" ;;
    eval:--source) words=" given predicted" ;;
    generate:--source) words=" given predicted" ;;
    probe:--method) words=" loo gradient" ;;
    theory:--local) words=" own none" ;;
    theory:--coupled) words=" no yes" ;;
    theory:--scores) words=" tuples words" ;;
    theory:--g) words=" table sign" ;;
    bench:--only) words=" peak kernel task text step generate probe" ;;
    bench:--precision) words=" fp32 bf16" ;;
    bench:--against) words=" torch" ;;
    *:--set)
        words=" seed= task.name= positions.ids= positions.levels= positions.coupling= positions.max_id= positions.chunks= positions.target= positions.cut_anywhere= positions.random_start= positions.source= positions.match= positions.reach= positions.encoding= positions.span= positions.window= positions.rope.share= positions.rope.base= positions.rope.scaling= positions.rope.factor= positions.rope.length= model.arch= model.layers= model.width= model.heads= model.ff= model.norm= model.norm_eps= model.act= model.biases= model.parallel= model.loops= model.inject= model.tied= model.attention= model.sink= train.init_from= train.steps= train.batch= train.lr= train.min_lr_ratio= train.warmup= train.cooldown= train.schedule= train.weight_decay= train.beta1= train.beta2= train.eps= train.grad_clip= train.id_weight= train.precision= train.groups= train.length= train.sparsity= train.curriculum= train.curriculum_steps= train.curriculum_at= train.checkpoint_every= train.keep= train.stop_at= train.certify.every= train.certify.feedback= eval.lengths= eval.sparsities= eval.samples= eval.every="
        compopt -o nospace 2>/dev/null ;;
    esac
    [[ $words || $word != -* ]] || case $command in
    demo) words=" --seed --out --plot --json --help" ;;
    try) words=" --minutes --set --length --seed --seeds --schemes --out --plot --size --json --csv --help" ;;
    couple) words=" --forget --set --lines --length --steps --minutes --seed --out --store --threads --json --help" ;;
    train) words=" --set --out --resume --allow-exec --fallback --store --threads --timeout --dry-run --compare-with --json --tensorboard --help" ;;
    eval) words=" --lengths --sparsities --vary --task --text --field --context --samples --source --allow-exec --by-context --force --fallback --store --threads --plot --size --measure --title --json --csv --help" ;;
    generate) words=" --length --sparsity --count --prompt --prompt-ids --source --temperature --seed --fallback --max-tokens --allow-exec --json --help" ;;
    sweep) words=" --jobs --set --scale --only --part --certify --tell --out --store --threads --table --plot --size --measure --json --csv --help" ;;
    reproduce) words=" --list --scale --only --minutes --experiments --results --out --store --jobs --threads --json --help" ;;
    import) words=" --tokenizer --text --field --help" ;;
    export) words=" --fallback --help" ;;
    runs) words=" --task --state --last --steps --csv --yes --plot --size --measure --store --json --help" ;;
    report) words=" --out --title --generate --prompt --no-passage --store --experiments --results --allow-exec --fallback --help" ;;
    serve) words=" --port --address --host --store --help" ;;
    tasks) words=" --json --markdown --help" ;;
    sample) words=" --length --sparsity --set --count --seed --ids --levels --train --max-id --target --chunks --cut-anywhere --random-start --source --reach --json --html --prompt --window --help" ;;
    positions) words=" --json --markdown --help" ;;
    config) words=" --json --markdown --help" ;;
    tokenizer) words=" --vocab --save --field --string --pieces --json --help" ;;
    certify) words=" --max-contexts --confirm --data --fresh --samples --sample --lengths --share --confidence --failures --allow-exec --fallback --threads --json --help" ;;
    probe) words=" --against --text --field --task --length --documents --predictions --method --epsilon --min-rise --keep-last --drop-first --max-k --fallback --out --allow-exec --store --threads --json --help" ;;
    theory) words=" --train-lengths --test-lengths --k --local --coverage --coupled --scores --patterns --offsets --window --g --unordered --seeds --seed --steps --until --batch --rate --samples --out --title --threads --json --class --length --plot --where --help" ;;
    bench) words=" --only --shape --precision --against --python --rounds --tokenizer --text --threads --seconds --scale --latency --bandwidth --json --help" ;;
    doctor) words=" --quick --json --help" ;;
    esac
    if [[ ! $words && $word != */* ]] && ((COMP_CWORD == 2)); then
        case $command in
        tasks | sample | try) words=" parity parity-scratchpad sparse-parity sparse-parity-scratchpad variable-assignment retrieval planted addition subtraction multi-addition multiplication copy reverse sort majority flip-flop machine jsonl exec text" ;;
        config) words=" seed task.name positions.ids positions.levels positions.coupling positions.max_id positions.chunks positions.target positions.cut_anywhere positions.random_start positions.source positions.match positions.reach positions.encoding positions.span positions.window positions.rope.share positions.rope.base positions.rope.scaling positions.rope.factor positions.rope.length model.arch model.layers model.width model.heads model.ff model.norm model.norm_eps model.act model.biases model.parallel model.loops model.inject model.tied model.attention model.sink train.init_from train.steps train.batch train.lr train.min_lr_ratio train.warmup train.cooldown train.schedule train.weight_decay train.beta1 train.beta2 train.eps train.grad_clip train.id_weight train.precision train.groups train.length train.sparsity train.curriculum train.curriculum_steps train.curriculum_at train.checkpoint_every train.keep train.stop_at train.certify.every train.certify.feedback eval.lengths eval.sparsities eval.samples eval.every" ;;
        help) words=" demo try couple train eval generate sweep reproduce import export runs report serve tasks sample positions config tokenizer certify probe theory bench doctor" ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o bashdefault -o default -F _lengthen lengthen
