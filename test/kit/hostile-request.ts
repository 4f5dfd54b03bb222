import { expect } from 'vitest';
import type { Answer, Cluster } from './cluster.ts';
import type { ProbeCommand, ProbeReading } from './event-loop-probe.ts';

/** One request that means no good, or only asks for much. */
export interface HostileRequest {
  /** What it does, as the name of a test: `a JSON key repeated 2,000 times`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Made when it is needed: a table of large bodies would fill the memory of the test. */
  body?(): string | Buffer;
  /** Codes that are right; without them any answer is. */
  readonly codes?: readonly number[];
  /** What must be there before, done once and not measured. */
  before?(cluster: Cluster): Promise<unknown>;
  /** Instead of a plain request; resolves when all of the answer is there. */
  send?(cluster: Cluster): Promise<Pick<Answer, 'code' | 'text'>>;
}

/** What a single request may cost everybody else, on a machine that is not slow. */
export const MAX_BLOCKING_MS = 100;
export const MAX_GROWTH_BYTES = 64 * 1024 * 1024;

/**
 * A stall that is the request's own shows every time; one that is the machine's, or a compiler's that warms up, does not.
 */
const ATTEMPTS = 4;

/** Sends the request to a server started with the probe, and expects that it neither blocked it nor filled its memory. */
export async function expectHarmless(cluster: Cluster, request: HostileRequest): Promise<void> {
  await request.before?.(cluster);
  const readings: ProbeReading[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const quick = attempt === 1 ? await measure(cluster, request, 'begin-quickly') : undefined;
    const reading = quick?.isSure === true ? quick : await measure(cluster, request, 'begin');
    if (isHarmless(reading)) return;
    readings.push(reading);
  }
  const least = (of: (reading: ProbeReading) => number): number => Math.min(...readings.map(of));
  expect(
    { blockedMs: least(({ longestMs }) => longestMs), grownBytes: least(({ grownBytes }) => grownBytes) },
    `each of ${ATTEMPTS} times: ${readings.map(describe).join('; ')}`,
  ).toEqual('harmless');
}

async function measure(
  cluster: Cluster,
  request: HostileRequest,
  begin: ProbeCommand,
): Promise<ProbeReading> {
  const send = request.send ?? ((to: Cluster) => sendPlainly(to, request));
  await cluster.ask(begin);
  const { code, text } = await send(cluster);
  const reading = (await cluster.ask('end')) as ProbeReading;
  if (request.codes !== undefined) expect(request.codes, text.slice(0, 500)).toContain(code);
  if (process.env.HOSTILE_READINGS !== undefined)
    console.log(`${begin}: ${request.name}: ${code}, ${describe(reading)} ${text.slice(0, 120)}`);
  return reading;
}

function sendPlainly(cluster: Cluster, { method, path, headers, body }: HostileRequest): Promise<Answer> {
  return cluster.request(method, path, body?.(), { ...headers });
}

const isHarmless = ({ longestMs, slowness, grownBytes }: ProbeReading): boolean =>
  longestMs <= MAX_BLOCKING_MS * slowness && grownBytes <= MAX_GROWTH_BYTES;

const describe = ({ longestMs, slowness, grownBytes }: ProbeReading): string =>
  `${longestMs.toFixed(0)} ms on a machine ${slowness.toFixed(1)} times as slow, ${(grownBytes / 1024 / 1024).toFixed(1)} MB`;
