import type { Command } from 'commander';
import { completionScript, SHELLS } from '../completion.ts';
import type { Perform } from '../verb.ts';

/** `completion bash|zsh|fish` */
export const addCompletionVerbs = (completion: Command, perform: Perform, program: Command): void => {
  for (const shell of SHELLS) {
    completion
      .command(shell)
      .description(`a script for ${shell}; its first line says how to use it`)
      .action(
        perform(async () => {
          const script = completionScript(program, shell);
          return { value: { shell, script }, text: script };
        }),
      );
  }
};
