import { expect, test } from 'vitest';
import { inTime } from '../../src/util/in-time.ts';

const never = new Promise<never>(() => {});

test('what comes in time is the outcome, an error too', async () => {
  await expect(inTime(Promise.resolve('done'), 10_000, () => 'late')).resolves.toBe('done');
  await expect(inTime(Promise.reject(new Error('broken')), 10_000, () => 'late')).rejects.toThrow('broken');
});

test('what is late is answered for, or refused', async () => {
  await expect(inTime(never, 1, () => 'late')).resolves.toBe('late');
  const refuse = (): never => {
    throw new Error('too late');
  };
  await expect(inTime(never, 1, refuse)).rejects.toThrow('too late');
});

test('an answer that came while the process was busy is in time', async () => {
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => port1.once('message', resolve));
  const outcome = inTime(answer, 1, () => 'late');
  port2.postMessage('answer');
  const untilMs = performance.now() + 20;
  while (performance.now() < untilMs);
  await expect(outcome).resolves.toBe('answer');
  port1.close();
});
