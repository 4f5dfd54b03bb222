import { expect, test } from 'vitest';
import { cpuSeconds, memoryOf, parseStat, parseStatusBytes, treeOf } from './proc.ts';

test('a process with any name is read, its ended children included', () => {
  const line = '42 (odd) (name) S 7 42 42 0 -1 4194304 99 0 0 0 100 20 3 1 20 0 1 0 1258553 3133440 396';
  expect(parseStat(line)).toEqual({ pid: 42, parent: 7, ticks: 124 });
});

test('sizes of /proc/<pid>/status are bytes', () => {
  const status = 'Name:\tnode\nVmHWM:\t    2208 kB\nVmRSS:\t    1024 kB\n';
  expect(parseStatusBytes(status, 'VmHWM')).toBe(2208 * 1024);
  expect(parseStatusBytes(status, 'VmSwap')).toBe(0);
});

test('a tree is its roots and all below, and nothing beside', () => {
  const stat = (pid: number, parent: number) => ({ pid, parent, ticks: 0 });
  const all = [stat(1, 0), stat(10, 1), stat(11, 10), stat(12, 11), stat(20, 1)];
  expect(treeOf([10], all).map(({ pid }) => pid)).toEqual([10, 11, 12]);
  expect(treeOf([99], all)).toEqual([]);
});

test.runIf(process.platform === 'linux')('this process has used some time and memory', () => {
  expect(cpuSeconds([process.pid])).toBeGreaterThan(0);
  expect(memoryOf([process.pid]).peakBytes).toBeGreaterThan(1_000_000);
});
