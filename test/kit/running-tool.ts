import { type ChildProcess, spawn } from 'node:child_process';
import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import { onLeash } from './leash.ts';
import { kubectlPath } from './tools.ts';

/** Tools that go on until they are stopped. */

export interface RunningTool {
  readonly process: ChildProcess;
  readonly output: string;
  /** Resolves when the output has it. */
  says(text: string | RegExp): Promise<void>;
  readonly ended: Promise<number | null>;
}

/** The caller ends it: `process.kill()`. */
export function spawnKubectl(
  { folder, kubeconfig }: Cluster,
  args: readonly string[],
  env: Record<string, string> = {},
): RunningTool {
  const child = onLeash(
    spawn(kubectlPath(), [...args], {
      env: { PATH: process.env.PATH ?? '', HOME: folder, KUBECONFIG: kubeconfig, ...env },
    }),
  );
  return watchTool(child);
}

/** Resolves when the server has a watch of the resource under way. */
export const watchBegins = (cluster: Cluster, resource: string): Promise<void> =>
  expect
    .poll(async () => {
      const { text } = await cluster.request('GET', '/metrics');
      const lines = text.split('\n').filter((line) => line.startsWith('apiserver_longrunning_requests{'));
      const own = lines.filter(
        (line) => line.includes('verb="WATCH"') && line.includes(`resource="${resource}"`),
      );
      return own.some((line) => !line.endsWith(' 0'));
    })
    .toBe(true);

export function watchTool(child: ChildProcess): RunningTool {
  let output = '';
  const waiting = new Set<() => void>();
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
    for (const look of waiting) look();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return {
    process: child,
    get output() {
      return output;
    },
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (typeof text === 'string' ? !output.includes(text) : !text.test(output)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`kubectl ended without saying ${text}:\n${output}`)));
      }),
    ended,
  };
}
