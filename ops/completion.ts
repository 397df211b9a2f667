import type { Command, Option } from 'commander';

/** Shells that `ops completion` writes a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** An option that can be completed. */
interface KnownOption {
  name: string;
  description: string;
  takesValue: boolean;
  /** Every value it takes; empty when there are too many to name. */
  values: readonly string[];
}

/** What can follow after `path`, such as `accounts create`; '' is the program itself. */
interface Level {
  path: string;
  commands: { name: string; description: string }[];
  options: KnownOption[];
}

const toKnownOption = (option: Option): KnownOption => ({
  name: option.long ?? '',
  description: option.description,
  takesValue: option.required || option.optional,
  values: option.argChoices ?? [],
});

const levelsOf = (command: Command, path: string, inherited: KnownOption[]): Level[] => {
  const options = [...command.options.map(toKnownOption), ...inherited];
  const level = {
    path,
    commands: command.commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    options: [...options, { name: '--help', description: 'show help', takesValue: false, values: [] }],
  };
  const below = command.commands.flatMap((sub) => levelsOf(sub, `${path} ${sub.name()}`.trim(), options));
  return [level, ...below];
};

/** A text in single quotes of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The paths that a command follows, quoted. */
const groupsIn = (levels: readonly Level[]): string[] =>
  levels.flatMap(({ path, commands }) => (commands.length > 0 ? [quoted(path)] : []));

/** Options that take a value, in all levels, each once. */
const valueOptions = (levels: readonly Level[]): KnownOption[] => [
  ...new Map(
    levels
      .flatMap(({ options }) => options.filter(({ takesValue }) => takesValue))
      .map((one) => [one.name, one]),
  ).values(),
];

/** The body that bash and zsh share: from the words before the cursor to `candidates`, a list with spaces. */
const bodyOf = (levels: readonly Level[]): string => {
  const withValue = valueOptions(levels);
  const named = levels.flatMap(({ path, options }) =>
    options
      .filter(({ values }) => values.length > 0)
      .map(
        ({ name, values }) => `    ${quoted(`${path} ${name}`)}) candidates=${quoted(values.join(' '))} ;;`,
      ),
  );
  const paths = levels.map(({ path, commands, options }) => {
    const candidates = [...commands.map(({ name }) => name), ...options.map(({ name }) => name)];
    return `    ${quoted(path)}) candidates=${quoted(candidates.join(' '))} ;;`;
  });
  return `  local word path='' skip='' candidates=''
  for word in "\${before[@]}"; do
    if [ -n "$skip" ]; then skip=''; continue; fi
    case "$word" in
      ${withValue.map(({ name }) => name).join('|')}) skip=1 ;;
      -*) ;;
      *) case "$path" in ${groupsIn(levels).join('|')}) path="\${path:+$path }$word" ;; esac ;;
    esac
  done
  if [ -n "$skip" ]; then
    case "$path $previous" in
${named.join('\n')}
    *' --data-dir') candidates='' ;;
    esac
  else
    case "$path" in
${paths.join('\n')}
    esac
  fi`;
};

const SETUP = 'ops() { npm run --silent ops -- "$@"; }';

const SCRIPTS: Record<Shell, (levels: readonly Level[]) => string> = {
  bash: (levels) => `# Completes the command ops. In ~/.bashrc: ${SETUP}; source <(ops completion bash)
_ops() {
  local before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}") previous="\${COMP_WORDS[COMP_CWORD-1]}"
${bodyOf(levels)}
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
  if [ "$skip" ] && [ "$previous" = '--data-dir' ]; then
    COMPREPLY=($(compgen -d -- "\${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -F _ops ops`,
  zsh: (levels) => `#compdef ops
# Completes the command ops. In ~/.zshrc, after compinit: ${SETUP}; source <(ops completion zsh)
_ops() {
  local -a before
  before=("\${(@)words[2,CURRENT-1]}")
  local previous="\${words[CURRENT-1]}"
${bodyOf(levels)}
  if [ -n "$skip" ] && [ "$previous" = '--data-dir' ]; then
    _files -/
  else
    compadd -- \${(s: :)candidates}
  fi
}
compdef _ops ops`,
  fish: (levels) => {
    const withValue = valueOptions(levels).map(({ name }) => name);
    const lines = levels.flatMap(({ path, commands, options }) => {
      const here = `complete -c ops -f -n ${quoted(`__ops_at ${quoted(path)}`)}`;
      return [
        ...commands.map(({ name, description }) => `${here} -a ${name} -d ${quoted(description)}`),
        ...options.map(
          ({ name, description, takesValue, values }) =>
            `${here} -l ${name.slice(2)}${takesValue ? ' -r' : ''}${
              values.length > 0 ? ` -a ${quoted(values.join(' '))}` : ''
            } -d ${quoted(description)}`,
        ),
      ];
    });
    return `# Completes the command ops. In config.fish: function ops; npm run --silent ops -- $argv; end; ops completion fish | source
function __ops_at
  set -l path
  set -l skip
  for word in (commandline -opc)[2..]
    if test -n "$skip"
      set skip
    else if contains -- $word ${withValue.join(' ')}
      set skip 1
    else if not string match -q -- '-*' $word
      # A word after a verb is an id.
      if contains -- "$path" ${groupsIn(levels).join(' ')}
        set -a path $word
      end
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}`;
  },
};

/** A script that completes the program's commands, options and their known values in a shell. */
export const completionScript = (program: Command, shell: Shell): string =>
  SCRIPTS[shell](levelsOf(program, '', []));
