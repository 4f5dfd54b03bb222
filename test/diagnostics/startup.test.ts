import { expect, test } from 'vitest';
import { Startup } from '../../src/diagnostics/startup.ts';

test('a start that takes long is alive for its grace period, and ready when it is done', () => {
  let now = 0;
  const startup = new Startup([{ name: 'poststarthook/slow', step: 'slow' }], 1000, () => now);
  const of = (endpoint: string) =>
    startup.checks().find(({ endpoints }) => endpoints.some((one) => one === endpoint));
  expect(() => of('livez')?.check()).not.toThrow();
  expect(() => of('readyz')?.check()).toThrow('not finished');
  now = 1000;
  expect(() => of('livez')?.check()).toThrow('not finished');
  startup.finished('slow');
  expect(() => of('livez')?.check()).not.toThrow();
  expect(() => of('readyz')?.check()).not.toThrow();
});
