import { expect, test } from 'vitest';
import { createPhase, type Phase, Phases } from '../../src/server/phase.ts';
import { Services } from '../../src/server/services.ts';
import { aborted } from '../../src/util/aborted.ts';

const root = (): Services =>
  new Services({
    logger: { error: () => {}, info: () => {}, warn: () => {} },
    isOutage: () => false,
    now: () => 0,
    random: () => 0,
    pause: async () => {},
  });

/** A phase that writes down what happens to it. */
function createNoting(name: string, notes: string[], services = root()): Phase {
  return createPhase({
    services,
    begin: async () => {
      for (const service of ['first', 'second']) {
        services.start(`${name}-${service}`, 'upkeep', async (signal) => {
          await aborted(signal);
          await new Promise(setImmediate);
          notes.push(`${name}: ${service} service ended`);
        });
      }
      await new Promise(setImmediate);
      notes.push(`${name}: ready`);
    },
    leave: async () => {
      await new Promise(setImmediate);
      notes.push(`${name}: left`);
    },
    close: async () => {
      notes.push(`${name}: closed`);
    },
  });
}

test('a phase is begun when the one before it is ready, and ended with all of its services before that one is', async () => {
  const notes: string[] = [];
  const phases = new Phases();
  await phases.begin(createNoting('storage', notes));
  await phases.begin(createNoting('serving', notes));
  expect(notes).toEqual(['storage: ready', 'serving: ready']);
  notes.length = 0;
  await phases.end();
  const endOf = (name: string): string[] =>
    ['left', 'second service ended', 'first service ended', 'closed'].map((what) => `${name}: ${what}`);
  expect(notes).toEqual([...endOf('serving'), ...endOf('storage')]);
});

test('a phase that cannot begin says why, and nothing after it is begun', async () => {
  const phases = new Phases();
  const broken = createPhase({
    services: root(),
    begin: () => Promise.reject(new Error('--policy-file: no such file')),
  });
  await expect(phases.begin(broken)).rejects.toThrow('--policy-file: no such file');
});

test('a phase waits no longer when an essential service of another one cannot be kept running', async () => {
  const services = root();
  const storage = services.branch();
  const serving = services.branch();
  const phases = new Phases();
  const waiting = phases.begin(
    createPhase({ services: serving, begin: () => serving.until(new Promise<void>(() => {})) }),
  );
  storage.start('watch-cache', 'essential', () => Promise.reject(new Error('broken')));
  await expect(waiting).rejects.toThrow('watch-cache failed 5 times');
  await expect(services.failed).rejects.toThrow('watch-cache failed 5 times');
});

test('the checks of a server are those of all of its phases, in the order in which they were begun', async () => {
  const services = root();
  const [storage, policy] = [services.branch(), services.branch()];
  policy.start('authorization', 'essential', (signal) => aborted(signal));
  storage.start('watch-cache', 'essential', (signal) => aborted(signal));
  expect(services.checks().map(({ name }) => name)).toEqual(['watch-cache', 'authorization']);
  await policy.stop();
  await storage.stop();
});
