import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { run } from '../../src/kubectl-history/run-plugin.ts';

/** A program of the name kubectl that answers what a test gives it, and notes how it was called. */

/** What is printed; or how the server refuses; or lines of a watch, which goes on where `isOpen`. */
export type FakeAnswer =
  | { readonly body: unknown }
  | { readonly reason: string; readonly message: string }
  | { readonly stderr: string }
  | { readonly lines: readonly unknown[]; readonly isOpen?: boolean }
  /** The first time and from then on. */
  | { readonly first: FakeAnswer; readonly later: FakeAnswer };

export interface Call {
  readonly args: readonly string[];
  readonly input: string;
  readonly pid: number;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly calls: readonly Call[];
}

export interface RunOptions {
  /** Columns of the terminal that the output goes to; none unless given. */
  readonly columns?: number;
  /** The input of a user at a terminal. */
  readonly typed?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  /** The reader of the output has gone, as `head` goes. */
  readonly isBroken?: boolean;
  readonly onOutput?: (all: string) => void;
}

export interface FakeCluster extends Disposable {
  /** The one folder of PATH. */
  readonly folder: string;
  /** A path with its query decoded, with `POST ` before what is created. */
  answers: Record<string, FakeAnswer>;
  run(args: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Of the last run, so far. */
  calls(): Call[];
}

export const NOW = new Date('2026-11-22T14:10:00Z');

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** As the plugin writes it. */
function encoded(key: string): string {
  const [path = '', query] = key.split(/\?(.*)/s);
  const entries = (query ?? '')
    .split('&')
    .map((entry) => entry.split(/=(.*)/s).slice(0, 2) as [string, string]);
  return path.replaceAll(':', '%3A') + (query === undefined ? '' : `?${new URLSearchParams(entries)}`);
}

function commandFor(answer: FakeAnswer): string {
  const print = (text: string): string => `printf '%s' ${quoted(text)}`;
  if ('reason' in answer) return `fail ${quoted(`Error from server (${answer.reason}): ${answer.message}`)}`;
  if ('stderr' in answer) return `fail ${quoted(answer.stderr)}`;
  if ('first' in answer) {
    return `printf x >> "$0.first"; if [ "$(/bin/cat "$0.first")" = x ]; then ${commandFor(answer.first)}; else ${commandFor(answer.later)}; fi`;
  }
  if ('body' in answer)
    return print(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  const lines = answer.lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return `${print(lines)}${answer.isOpen === true ? '; exec /bin/sleep 600' : ''}`;
}

/** For sh, which starts in a moment. It notes arguments and input between control characters that separate. */
const scriptFor = (folder: string, answers: Readonly<Record<string, FakeAnswer>>): string => `#!/bin/sh
input=
for word in "$@"; do if [ "$word" = create ]; then input=$(/bin/cat); fi; done
call=$(printf '%s\\037' "$@" "$input" "$$")
printf '%s\\036' "$call" >> ${quoted(`${folder}/calls`)}
fail() { printf '%s\\n' "$1" >&2; exit 1; }
while [ "\${1#-}" != "$1" ]; do shift; done
case "$1 $2" in
'get --raw') key=$3 ;;
'create --raw') key="POST $3" ;;
'proxy --unix-socket='*) key=proxy ;;
*) key="$*" ;;
esac
case "$key" in
${Object.entries(answers)
  .map(([key, answer]) => `${quoted(encoded(key))}) ${commandFor(answer)} ;;`)
  .join('\n')}
*) fail 'Error from server (NotFound): the server could not find the requested resource' ;;
esac
`;

const CONFIG = {
  'current-context': 'test',
  contexts: [{ name: 'test', context: { cluster: 'c', namespace: 'shop' } }],
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443' } }],
};

const TYPES = `NAME          SHORTNAMES   APIVERSION                  NAMESPACED   KIND         VERBS    CATEGORIES
configmaps    cm           v1                          true         ConfigMap    get,list
namespaces    ns           v1                          false        Namespace    get,list
pods          po           v1                          true         Pod          get,list   all
secrets                    v1                          true         Secret       get,list
deployments                acme.example/v1             true         Deployment   get,list
deployments   deploy       apps/v1                     true         Deployment   get,list   all
replicasets   rs           apps/v1                     true         ReplicaSet   get,list   all
revisions     rev          history.cluster.io/v1alpha1 false        Revision     get,list
`;

export function createFakeCluster(): FakeCluster {
  const folder = mkdtempSync(join(tmpdir(), 'kubectl-history-'));
  const program = join(folder, 'kubectl');
  const cluster: FakeCluster = {
    folder,
    answers: {},
    run: async (args, options = {}) => {
      const answers = {
        'config view --output=json': { body: CONFIG },
        'api-resources --output=wide': { body: TYPES },
        ...cluster.answers,
      };
      writeFileSync(program, scriptFor(folder, answers));
      chmodSync(program, 0o755);
      // The browser is opened by one of these.
      for (const name of ['xdg-open', 'open']) copyFileSync(program, join(folder, name));
      for (const name of ['calls', 'kubectl.first']) rmSync(join(folder, name), { force: true });
      const outcome = await runIn(folder, args, options);
      return { ...outcome, calls: cluster.calls() };
    },
    calls: () => readCalls(join(folder, 'calls')),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
  return cluster;
}

class BrokenPipe extends PassThrough {
  override _transform(_chunk: Buffer, _encoding: BufferEncoding, done: (error: Error) => void): void {
    done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  }
}

function readCalls(file: string): Call[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text
    .split('\u001e')
    .slice(0, -1)
    .map((call): Call => {
      const parts = call.split('\u001f');
      return { args: parts.slice(0, -3), input: parts.at(-3) ?? '', pid: Number(parts.at(-2)) };
    });
}

async function runIn(
  folder: string,
  args: readonly string[],
  { columns, typed, env = {}, signal = new AbortController().signal, isBroken, onOutput }: RunOptions,
): Promise<Omit<Outcome, 'calls'>> {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  const stdout = isBroken === true ? new BrokenPipe() : new PassThrough();
  const [said, complained] = [collect(stdout, onOutput), collect(stderr)];
  const isTTY = columns !== undefined;
  if (typed !== undefined) stdin.write(`${typed}\n`);
  const code = await run(args, {
    stdin: Object.assign(stdin, { isTTY: typed !== undefined }),
    stdout: Object.assign(stdout, { isTTY, ...(columns === undefined ? {} : { columns }) }),
    stderr: Object.assign(stderr, { isTTY: typed !== undefined }),
    env: { PATH: folder, XDG_CACHE_HOME: join(folder, 'cache'), NO_COLOR: '1', PAGER: '', ...env },
    now: NOW,
    signal,
  });
  return { code, stdout: said(), stderr: complained() };
}

function collect(stream: PassThrough, onOutput?: (all: string) => void): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    onOutput?.(text);
  });
  return () => text;
}
