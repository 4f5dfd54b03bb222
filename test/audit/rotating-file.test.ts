import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LogSink, openLog, rotatedName, tidyRotated } from '../../src/audit/log-sink.ts';
import { Losses, makeRecord } from './kit.ts';

let folder: string;
let path: string;
const troubles: unknown[] = [];
const DEFAULTS = {
  maxSizeMb: 0,
  maxBackups: 0,
  maxAgeDays: 0,
  compress: false,
  onTrouble: (error: unknown) => troubles.push(error),
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-log-'));
  path = join(folder, 'audit.log');
  troubles.length = 0;
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  expect(troubles).toEqual([]);
});

const others = (): string[] => readdirSync(folder).filter((name) => name !== 'audit.log');
/** About half a megabyte a line. */
const line = (character: string): string => `${character.repeat(512 * 1024 - 1)}\n`;

test('lines written at the same time each arrive whole and in order, after what was there before', async () => {
  writeFileSync(path, 'before\n');
  const log = await openLog(path, DEFAULTS);
  await Promise.all(Array.from({ length: 100 }, (_, at) => log.write(`line ${at}\n`)));
  await log.close();
  const expected = ['before', ...Array.from({ length: 100 }, (_, at) => `line ${at}`), ''];
  expect(readFileSync(path, 'utf8').split('\n')).toEqual(expected);
});

test('the file and the folder made for it are for their owner alone', async () => {
  path = join(folder, 'deep', 'audit.log');
  const log = await openLog(path, DEFAULTS);
  await log.write('x\n');
  await log.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700);
});

test('a full file is put aside under a name that says when, and nothing is lost on the way', async () => {
  const log = await openLog(path, { ...DEFAULTS, maxSizeMb: 1 });
  for (const character of 'abcde') await log.write(line(character));
  await log.close();
  expect(others()).toHaveLength(2);
  for (const name of others()) {
    expect(name).toMatch(/^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log$/);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
  const texts = [...others().sort(), 'audit.log'].map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(texts.join('') === [...'abcde'].map(line).join('')).toBe(true);
});

test('old files are compressed, and so many of them are kept', async () => {
  const log = await openLog(path, { ...DEFAULTS, maxSizeMb: 1, maxBackups: 2, compress: true });
  for (const character of 'aabbccd') await log.write(line(character));
  await log.close();
  const names = others().sort();
  expect(names).toHaveLength(2);
  expect(names.every((name) => name.endsWith('.log.gz'))).toBe(true);
  const texts = names.map((name) => gunzipSync(readFileSync(join(folder, name))).toString());
  expect(texts.map((text) => text[0])).toEqual(['b', 'c']);
  expect(statSync(join(folder, names[0] ?? '')).mode & 0o777).toBe(0o600);
});

const NOW = Date.parse('2026-11-21T08:00:00Z');
const LIMITS = { maxBackups: 0, maxAgeDays: 0, compress: false, mode: 0o600, now: NOW };
const DAY_MS = 86_400_000;

test('the age of a file is what its name says; other files in the folder are left alone', async () => {
  const young = rotatedName(path, new Date(NOW - 2 * DAY_MS));
  const old = rotatedName(path, new Date(NOW - 2 * DAY_MS - 1));
  const bystanders = ['audit-notes.log', 'audit-2020.log', 'other-2020-01-01T00-00-00.000.log', 'audit.log'];
  for (const name of bystanders) writeFileSync(join(folder, name), 'x');
  for (const name of [young, old, `${old}.gz`]) writeFileSync(name, 'x');
  await tidyRotated(path, { ...LIMITS, maxAgeDays: 2 });
  expect(existsSync(young)).toBe(true);
  expect(existsSync(old)).toBe(false);
  expect(existsSync(`${old}.gz`)).toBe(false);
  for (const name of bystanders) expect(existsSync(join(folder, name)), name).toBe(true);
});

test('a file whose compression broke off is compressed again', async () => {
  const rotated = rotatedName(path, new Date(NOW - DAY_MS));
  writeFileSync(rotated, 'whole');
  writeFileSync(`${rotated}.gz.part`, 'hal');
  await tidyRotated(path, { ...LIMITS, compress: true });
  expect(gunzipSync(readFileSync(`${rotated}.gz`)).toString()).toBe('whole');
  expect(others()).toHaveLength(1);
});

test('a disk that is full loses lines and not the server; what fits again is written again', async () => {
  const losses = new Losses();
  const log = await openLog('/dev/full', DEFAULTS);
  const sink = new LogSink(log, { format: 'json', apiVersion: 'audit.k8s.io/v1', report: losses.report });
  expect(await sink.process([makeRecord('a')])).toBe(false);
  expect(await sink.process([makeRecord('b')])).toBe(false);
  expect(losses.lost).toMatchObject([
    { part: 'log', ids: ['a'], error: expect.stringContaining('ENOSPC') },
    { part: 'log', ids: ['b'] },
  ]);
  await sink.close();
});

test('a file that cannot be written for a while is written again after', async () => {
  const losses = new Losses();
  const log = await openLog(path, DEFAULTS);
  const sink = new LogSink(log, { format: 'json', apiVersion: 'audit.k8s.io/v1', report: losses.report });
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'a file where the folder was');
  expect(await sink.process([makeRecord('a')])).toBe(false);
  rmSync(folder);
  expect(await sink.process([makeRecord('b')])).toBe(true);
  await sink.close();
  const [written] = readFileSync(path, 'utf8').split('\n');
  expect(JSON.parse(written ?? '')).toMatchObject({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    auditID: 'b',
  });
  troubles.length = 0;
});

test('a dash is standard output, and a reader that has gone is a lost line', async () => {
  const losses = new Losses();
  const log = await openLog('-', DEFAULTS);
  const sink = new LogSink(log, { format: 'legacy', apiVersion: 'audit.k8s.io/v1', report: losses.report });
  const written: string[] = [];
  let failure: Error | undefined;
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text: unknown, done: unknown) => {
    written.push(String(text));
    if (typeof done === 'function') done(failure);
    return true;
  });
  expect(await sink.process([makeRecord('a'), makeRecord('b')])).toBe(true);
  failure = new Error('EPIPE');
  expect(await sink.process([makeRecord('c')])).toBe(false);
  spy.mockRestore();
  expect(written[0]?.trim().split('\n')).toEqual([
    expect.stringContaining('AUDIT: id="a"'),
    expect.stringContaining('AUDIT: id="b"'),
  ]);
  expect(losses.lost).toMatchObject([{ part: 'log', ids: ['c'] }]);
});

test('a log that cannot be opened is an error at once', async () => {
  writeFileSync(join(folder, 'file'), '');
  await expect(openLog(join(folder, 'file', 'audit.log'), DEFAULTS)).rejects.toThrow(/ENOTDIR|EEXIST/);
  await expect(openLog(folder, DEFAULTS)).rejects.toThrow('EISDIR');
});
