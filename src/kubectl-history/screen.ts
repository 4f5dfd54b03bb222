import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

/** The output of a command: a terminal with colours and a pager, or a file or pipe without them. */

export type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

/** Paints nothing. */
export const PLAIN: Paint = (_, text) => text;

interface ScreenOptions {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable;
  readonly env: NodeJS.ProcessEnv;
  /** auto, always or never. */
  readonly colour: string;
  readonly isPaged: boolean;
}

/** The reader has closed the output: `| head`, or a pager that ended. The command ends quietly. */
export class OutputClosed extends Error {}

export class Screen {
  readonly isTerminal: boolean;
  /** Columns of the terminal; undefined: lines may have any length. */
  readonly columns: number | undefined;
  readonly paint: Paint;
  readonly #options: ScreenOptions;
  #pager: ChildProcess | undefined;
  #target: Writable;
  #isClosed = false;

  constructor(options: ScreenOptions) {
    const { stdout, env, colour } = options;
    this.#options = options;
    this.#target = stdout;
    this.isTerminal = stdout.isTTY === true;
    // A terminal of unknown width reports 0.
    this.columns = this.isTerminal ? Math.max(40, stdout.columns || 80) : undefined;
    const isColourful =
      colour === 'always' || (colour !== 'never' && this.isTerminal && !env.NO_COLOR && env.TERM !== 'dumb');
    this.paint = isColourful
      ? (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }))
      : PLAIN;
    stdout.on('error', this.#lost);
  }

  readonly #lost = (): void => {
    this.#isClosed = true;
    this.#target.emit('drain');
  };

  /** Sends further output through a pager, if it goes to a terminal. */
  usePager(): void {
    const { env, stdout, isPaged } = this.#options;
    if (!this.isTerminal || !isPaged || this.#pager !== undefined) return;
    // On a dumb terminal, less asks for a key first.
    const usual = env.TERM !== 'dumb' && isInPath('less', env) ? 'less' : '';
    const command = env.KUBECTL_HISTORY_PAGER ?? env.PAGER ?? usual;
    if (command === '' || command === 'cat') return;
    const [program = ''] = command.split(' ');
    if (/^[\w./+-]+$/.test(program) && !isProgram(program, env)) {
      this.note(`the pager ${program} is not there; PAGER or KUBECTL_HISTORY_PAGER names it`);
      return;
    }
    // Exits at once if all fits, shows colours, leaves the text on the screen; as in git.
    const pager = spawn('sh', ['-c', command], {
      env: { ...env, LESS: env.LESS ?? 'FRX', LV: env.LV ?? '-c' },
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    pager.once('error', this.#lost);
    pager.stdin.on('error', this.#lost);
    this.#pager = pager;
    this.#target = pager.stdin;
    stdout.removeListener('error', this.#lost);
  }

  /** Resolves when there is room for more. @throws OutputClosed */
  async write(text: string): Promise<void> {
    if (this.#isClosed) throw new OutputClosed();
    if (text === '' || this.#target.write(text)) return;
    await new Promise<void>((resolve) => this.#target.once('drain', resolve));
  }

  /** Writes to stderr: warnings, hints, questions. */
  note(text: string): void {
    this.#options.stderr.write(`${text}\n`);
  }

  /** Waits until the pager ends. */
  async close(): Promise<void> {
    const pager = this.#pager;
    if (pager === undefined) return;
    const ended = new Promise((resolve) => pager.once('close', resolve));
    if (pager.exitCode !== null) return;
    this.#target.end();
    await ended;
  }
}

const isProgram = (program: string, env: NodeJS.ProcessEnv): boolean =>
  program.includes('/') ? existsSync(program) : isInPath(program, env);

const isInPath = (program: string, env: NodeJS.ProcessEnv): boolean =>
  (env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
