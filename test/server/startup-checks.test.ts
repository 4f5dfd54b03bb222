import { expect, test } from 'vitest';
import { Startup } from '../../src/diagnostics/health-pages.ts';
import type { Pipeline } from '../../src/pipeline/pipeline.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';
import { onceReady } from '../../src/server/front.ts';
import { startupChecks } from '../../src/server/startup-checks.ts';

const namesWith = (gate: string, isOn: boolean): string[] =>
  startupChecks({ priorityAndFairness: true }, (name) => name === gate && isOn).map(({ name }) => name);

test.each([
  ['APIServerIdentity', 'poststarthook/start-kube-apiserver-identity-lease-controller'],
  ['WatchCacheInitializationPostStartHook', 'poststarthook/storage-readiness'],
  ['UnknownVersionInteroperabilityProxy', 'poststarthook/peer-endpoint-reconciler-controller'],
  ['MultiCIDRServiceAllocator', 'poststarthook/start-kubernetes-service-cidr-controller'],
])('a start with %s has the check %s, and one without has it not', (gate, check) => {
  expect(namesWith(gate, true)).toContain(check);
  expect(namesWith(gate, false)).not.toContain(check);
});

test('a server that refuses until it is ready never refuses again once it has been', async () => {
  const startup = { isComplete: false };
  const answers =
    (text: string): Pipeline =>
    async () => ({ kind: 'bytes', code: 200, contentType: text, chunks: [], compressible: false });
  const pipeline = onceReady(startup, answers('starting'), answers('serving'));
  const ask = async (): Promise<unknown> => Reflect.get(await pipeline({} as ApiRequest), 'contentType');
  expect(await ask()).toBe('starting');
  startup.isComplete = true;
  expect(await ask()).toBe('serving');
  startup.isComplete = false;
  expect(await ask()).toBe('serving');
});

test('the start is complete when every step is finished that a check waits for', () => {
  const checks = [
    { name: 'a', step: 'one' },
    { name: 'b', step: 'two' },
  ] as const;
  const startup = new Startup<'one' | 'two'>(checks, 0);
  startup.finished('one');
  expect(startup.isComplete).toBe(false);
  startup.finished('two');
  expect(startup.isComplete).toBe(true);
});
