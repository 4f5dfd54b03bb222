import { expect, test, vi } from 'vitest';
import { readYamlAside } from '../../src/codec/yaml-aside.ts';
import { parseYamlText } from '../../src/codec/yaml-text.ts';

async function read(text: string): Promise<ReturnType<typeof parseYamlText>> {
  const bytes = Buffer.from(text);
  await readYamlAside(bytes);
  return parseYamlText(bytes);
}

const filler = Array.from({ length: 300 }, (_, at) => `  k${at}: "some text"`).join('\n');

test('long YAML says the same, read aside, as short YAML does', async () => {
  const { value, duplicates } = await read(
    `number: 12345678901234567890\non: yes\na: 1\na: 2\ndata:\n${filler}\n`,
  );
  expect(value).toMatchObject({
    number: 12345678901234567890n,
    true: true,
    a: 2,
    data: { k299: 'some text' },
  });
  expect(duplicates).toEqual(['line 4: key "a" already set in map']);
});

test('it is read as often as it is asked for, and the value is the caller’s own each time', async () => {
  const bytes = Buffer.from(`data:\n${filler}\n`);
  await readYamlAside(bytes);
  const first = parseYamlText(bytes);
  expect(parseYamlText(bytes)).toEqual(first);
  expect(parseYamlText(bytes).value).not.toBe(first.value);
});

test('JSON that calls itself YAML is read at once, twice as well as once', async () => {
  const bytes = Buffer.from(`{"a":"${'x'.repeat(10_000)}","a":1}`);
  await readYamlAside(bytes);
  for (let times = 0; times < 2; times += 1)
    expect(parseYamlText(bytes)).toMatchObject({
      value: { a: 1 },
      duplicates: ['line 1: key "a" already set in map'],
    });
});

test('invalid YAML is a SyntaxError, however long it is', async () => {
  for (const text of ['a: {', 'a: b\n---\nc: d', 'a: *b'])
    for (const comment of ['', '# x\n'.repeat(2000)])
      await expect(read(comment + text)).rejects.toThrow(SyntaxError);
});

test('a document that takes too long is refused, and the next one is read', { tags: 'long' }, async () => {
  const anchors = Array.from({ length: 60_000 }, (_, at) => `k${at}: &a${at} x\nl${at}: *a${at}`).join('\n');
  await expect(read(anchors)).rejects.toMatchObject({ status: { code: 413 } });
  expect((await read(`data:\n${filler}\n`)).duplicates).toEqual([]);
});

test('the start of a thread is no part of the deadline', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    // Ends the thread that there may be.
    const late = expect(read(`data:\n${filler}\n`)).rejects.toMatchObject({ status: { code: 413 } });
    vi.advanceTimersByTime(60_000);
    await late;
    const reading = read(`data:\n${filler}\n`);
    vi.advanceTimersByTime(20_000);
    expect((await reading).duplicates).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

test('YAML may be nested as deep as JSON, and have as many values', { tags: 'long' }, async () => {
  const nested = (depth: number): string =>
    `# ${'x'.repeat(5000)}\n${'['.repeat(depth)}1${']'.repeat(depth)}`;
  expect((await read(nested(500))).duplicates).toEqual([]);
  for (const depth of [600, 20_000, 300_000])
    await expect(read(nested(depth))).rejects.toThrow('exceeded max depth of 512');
  await expect(read(`a: [${'1,'.repeat(60_000)}]`)).rejects.toMatchObject({ status: { code: 413 } });
});

test('more than some waiting documents are too many', async () => {
  const all = await Promise.allSettled(Array.from({ length: 40 }, () => read(`data:\n${filler}\n`)));
  const refused = all.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(40);
  expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ status: { code: 429 } });
});

test("a client's YAML causes no warning of this process", async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  await read('? [a, b]\n: c\n').catch(() => {});
  await read('a: !unknown b\n').catch(() => {});
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
});
