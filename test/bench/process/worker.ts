import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Answer, Call, CallTable } from './calls.ts';

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A process of ours, so that its CPU is neither the server's nor mixed with the measuring. */
export class Worker<Asked extends CallTable<Asked>> implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #ended: Error | undefined;

  /** `file` is relative to test/bench. */
  constructor(file: string) {
    const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
    this.#child = fork(path, { serialization: 'advanced', execArgv: ['--max-semi-space-size=32'] });
    this.#child.on('message', (answer: Answer) => this.#settle(answer));
    this.#child.once('error', (error) => this.#fail(error));
    this.#child.once('exit', (code) => this.#fail(new Error(`${file} ended with ${code}`)));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  call<Name extends keyof Asked & string>(
    name: Name,
    argument: Asked[Name]['argument'],
  ): Promise<Asked[Name]['result']> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#lastId += 1;
    const call: Call = { id: this.#lastId, name, argument };
    return new Promise((resolve, reject) => {
      this.#waiting.set(call.id, { resolve, reject });
      this.#child.send(call);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null)
      return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
  }

  #settle({ id, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error));
  }

  #fail(error: Error): void {
    this.#ended = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
