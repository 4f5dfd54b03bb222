import { expect, test } from 'vitest';
import { RESTORE_MANAGER, restoredBy, restoringAgent, writingAgent } from '../../src/request/restored.ts';

const said = (userAgent: string, fieldManager = RESTORE_MANAGER) => restoredBy({ userAgent, fieldManager });

test('a restore says of itself what it restored, once', () => {
  const agent = restoringAgent('kubectl/v1 (linux/amd64)', 4711n);
  expect(agent).toBe('kubectl/v1 (linux/amd64) restore/4711');
  expect(said(agent)).toBe('4711');
  expect(restoringAgent(agent, 5n)).toBe('kubectl/v1 (linux/amd64) restore/5');
  expect(said(restoringAgent('', 5n))).toBe('5');
});

test('a write that no restore made names none, with any user agent of its client', () => {
  expect(said('kubectl/v1 restore/4711', 'kubectl')).toBeUndefined();
  for (const agent of ['x restore/1', 'restore/1', 'x restore/1 restore/2', 'restore/1 restore/2'])
    expect(said(writingAgent(agent, RESTORE_MANAGER))).toBeUndefined();
  expect(writingAgent('x restore/1', 'kubectl')).toBe('x restore/1');
});
