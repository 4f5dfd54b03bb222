import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onLeash } from './leash.ts';

const PROGRAM = fileURLToPath(new URL('kms-plugin.ts', import.meta.url));

/** A KMS plugin in a process of its own (kms-plugin.ts). */
export class KmsPlugin implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: Interface;

  private constructor(child: ChildProcess, lines: Interface) {
    this.#child = child;
    this.#lines = lines;
  }

  /** Resolves when it listens. */
  static async start(socket: string, keyId: string, delayMs = 0): Promise<KmsPlugin> {
    rmSync(socket, { force: true });
    const child = onLeash(
      spawn(process.execPath, [PROGRAM, socket, keyId, String(delayMs)], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    if (child.stdout === null) throw new Error('it has no output');
    const lines = createInterface(child.stdout);
    const plugin = new KmsPlugin(child, lines);
    await once(lines, 'line');
    return plugin;
  }

  /** Resolves with the plugin's answer, once it has carried out the order. */
  async tell(order: string): Promise<string> {
    const answer = once(this.#lines, 'line');
    this.#child.stdin?.write(`${order}\n`);
    return String((await answer)[0]);
  }

  async calls(): Promise<Record<'Status' | 'Encrypt' | 'Decrypt', number>> {
    return JSON.parse(await this.tell('calls'));
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
