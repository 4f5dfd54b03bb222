import { summarize } from '../measure/percentile.ts';
import type { Connections, Outgoing, Reply } from './connections.ts';
import type { DelayMeter } from './delays.ts';
import type { Plan, PlanResult } from './jobs.ts';
import { compileTemplate, type Template } from './template.ts';

/** Enough of a reply to hold the metadata it begins with, and of a refusal to be understood. */
const HEAD_BYTES = 8 * 1024;
const LEARNERS = 64;

/** Other generators have written before this one: what they wrote must not be written again, or nothing would change. */
let lastSequence = Date.now();

/** By where they are read, and object. They outlive a job, so that only the first one, the warm-up, reads them. */
const knownVersions = new Map<string, Map<number, string>>();

/** A plan under way: makes its requests and keeps what became of them. */
export class PlanRun {
  readonly plan: Plan;
  readonly #connections: Connections;
  readonly #delays: DelayMeter;
  readonly #path: Template;
  readonly #body: Template | undefined;
  readonly #versions: Map<number, string>;
  readonly #latencies: number[] = [];
  readonly #firstBytes: number[] = [];
  readonly #failures: Record<string, number> = {};
  #firstFailure = '';
  #bytes = 0;

  constructor(plan: Plan, connections: Connections, delays: DelayMeter) {
    this.plan = plan;
    this.#connections = connections;
    this.#delays = delays;
    this.#path = compileTemplate(plan.path);
    this.#versions = knownVersions.get(plan.versionsFrom ?? '') ?? new Map();
    this.#body = plan.body === undefined ? undefined : compileTemplate(plan.body);
  }

  /** Reads the versions of all objects once, before anything is measured. */
  async learnVersions(): Promise<void> {
    const { versionsFrom, objects = 1 } = this.plan;
    if (versionsFrom === undefined || knownVersions.has(versionsFrom)) return;
    knownVersions.set(versionsFrom, this.#versions);
    const path = compileTemplate(versionsFrom);
    const learn = async (first: number): Promise<void> => {
      for (let object = first; object < objects; object += LEARNERS) {
        const outgoing = { method: 'GET', path: path({ object, sequence: 0, version: '' }), headers: {} };
        this.#keepVersion(
          object,
          await this.#connections.send({ ...outgoing, textBytes: HEAD_BYTES }, object),
        );
      }
    };
    await Promise.all(Array.from({ length: LEARNERS }, (_, first) => learn(first)));
  }

  /** Never rejects: what fails is counted. `since` is what the time counts from. Pages are followed to the last. */
  async send(object: number, lane: number, since: number): Promise<void> {
    let next = await this.#sendOne(object, lane, { since, page: '' });
    while (next !== '') next = await this.#sendOne(object, lane, { since: performance.now(), page: next });
  }

  /** Answers where the next page begins; empty when there is none. */
  async #sendOne(
    object: number,
    lane: number,
    { since, page }: { since: number; page: string },
  ): Promise<string> {
    try {
      const reply = await this.#connections.send(this.#fill(object, page), lane);
      const now = performance.now();
      this.#latencies.push(now - since);
      this.#firstBytes.push(reply.firstByteAt - since);
      this.#bytes += reply.bytes;
      if (reply.status < 400) return this.#learn(object, reply, now);
      this.#fail(String(reply.status), reply.text);
    } catch (error) {
      this.#latencies.push(performance.now() - since);
      this.#fail('connection', String(error));
    }
    return '';
  }

  result(): PlanResult {
    return {
      name: this.plan.name,
      count: this.#latencies.length,
      failures: this.#failures,
      firstFailure: this.#firstFailure,
      bytes: this.#bytes,
      latencyMs: summarize(this.#latencies),
      firstByteMs: summarize(this.#firstBytes),
    };
  }

  #fill(object: number, page: string): Outgoing {
    lastSequence += 1;
    const values = { object, sequence: lastSequence, version: this.#versions.get(object) ?? '' };
    const path = this.#path(values);
    return {
      method: this.plan.method,
      path: page === '' ? path : `${path}&continue=${encodeURIComponent(page)}`,
      headers: this.plan.headers ?? {},
      textBytes: HEAD_BYTES,
      ...(this.#body === undefined ? {} : { body: this.#body(values) }),
    };
  }

  #learn(object: number, reply: Reply, now: number): string {
    const { versionsFrom, pages, stamped } = this.plan;
    if (versionsFrom !== undefined) this.#keepVersion(object, reply);
    if (stamped === true) this.#delays.replied(versionIn(reply.text), now);
    return pages === true ? (/"continue":"([^"]*)"/.exec(reply.text)?.[1] ?? '') : '';
  }

  #keepVersion(object: number, { text }: Reply): void {
    this.#versions.set(object, versionIn(text));
  }

  #fail(kind: string, text: string): void {
    this.#failures[kind] = (this.#failures[kind] ?? 0) + 1;
    if (this.#firstFailure === '') this.#firstFailure = text.slice(0, 500);
  }
}

const versionIn = (text: string): string => /"resourceVersion":"(\d+)"/.exec(text)?.[1] ?? '';
