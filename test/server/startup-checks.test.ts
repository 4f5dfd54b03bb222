import { expect, test } from 'vitest';
import { startupChecks } from '../../src/server/startup-checks.ts';

const namesWith = (gate: string, isOn: boolean): string[] =>
  startupChecks({ priorityAndFairness: true }, (name) => name === gate && isOn).map(({ name }) => name);

test.each([
  ['APIServerIdentity', 'poststarthook/start-kube-apiserver-identity-lease-controller'],
  ['WatchCacheInitializationPostStartHook', 'poststarthook/storage-readiness'],
])('a start with %s has the check %s, and one without has it not', (gate, check) => {
  expect(namesWith(gate, true)).toContain(check);
  expect(namesWith(gate, false)).not.toContain(check);
});
