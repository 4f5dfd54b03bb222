import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect } from 'vitest';
import { onLeash } from './leash.ts';
import { type RunningTool, watchTool } from './running-tool.ts';

/** Shells at a terminal, which is what they complete command lines for. */

export interface Shell extends Disposable {
  /** Runs a command of which nothing is printed. */
  does(command: string): Promise<void>;
  /** Types, presses the tab key, and waits for the line to become what is expected. */
  completes(typed: string, becomes: string): Promise<void>;
}

const isThere = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

/** `script`, of util-linux, makes the terminal. */
export const hasShell = (shell: string): boolean => isThere('script') && isThere(shell);

const PLAIN: Readonly<Record<string, string>> = {
  bash: 'bash --norc --noprofile -i',
  zsh: 'zsh -f -i',
  fish: 'fish --no-config -i',
};

/** Colours, movements of the cursor, titles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const SEQUENCES = /\u001b(?:\[[0-9;?>=]*[a-zA-Z]|\][^\u0007]*\u0007|[=>]|\(B)|[\r\u0007\u000f]/g;
const KILL_LINE = '\u0015';

export async function startShell(shell: string, env: Readonly<Record<string, string>>): Promise<Shell> {
  const command = `stty cols 200 rows 50; exec ${PLAIN[shell]}`;
  const child = onLeash(
    spawn('script', ['-qfec', command, '/dev/null'], { env: { TERM: 'xterm', PS1: '$ ', ...env } }),
  );
  const tool = watchTool(child);
  const type = (keys: string): void => void child.stdin?.write(keys);
  let commands = 0;
  const does = async (line: string): Promise<void> => {
    commands += 1;
    type(`${line}; echo do""ne${commands}\r`);
    await tool.says(new RegExp(`done${commands}\\b`));
  };
  await does('true');
  return {
    does,
    completes: (typed, becomes) => completes({ tool, type }, typed, becomes),
    [Symbol.dispose]: () => void child.kill(),
  };
}

async function completes(
  { tool, type }: { readonly tool: RunningTool; readonly type: (keys: string) => void },
  typed: string,
  becomes: string,
): Promise<void> {
  const from = tool.output.length;
  type(`${typed}\t`);
  await expect.poll(() => tool.output.slice(from).replaceAll(SEQUENCES, '')).toContain(becomes);
  type(KILL_LINE);
}
