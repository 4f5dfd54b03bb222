import pg from 'pg';
import { expect, test } from 'vitest';
import {
  type ElementType,
  INT8,
  JSON_TEXT,
  TEXT,
  TIMESTAMPTZ,
  UUID,
} from '../../../src/storage/postgres/commit/binary-arrays.ts';
import { CallMessages } from '../../../src/storage/postgres/commit/call-messages.ts';
import { call, type TextFields } from '../../../src/storage/postgres/commit/send-call.ts';
import { createTestDatabase } from '../../postgres.ts';

type Callee = Parameters<CallMessages['begin']>[0];

/** What PostgreSQL makes of five arrays and a json, as json, so that it can be compared. */
const TEXT_OF_ALL = `SELECT to_json($1::text[]), to_json($2::bigint[]::text[]), to_json($3::uuid[]),
  to_json(array(SELECT extract(epoch FROM t) * 1000 FROM unnest($4::timestamptz[]) WITH ORDINALITY u (t, i) ORDER BY i)::bigint[]),
  to_json($5::json[]), $6::json`;

interface Values {
  readonly texts: (string | undefined)[];
  readonly numbers: (bigint | undefined)[];
  readonly ids: (string | undefined)[];
  readonly dates: (Date | undefined)[];
  readonly objects: (Buffer | undefined)[];
  readonly last: string;
}

function send(messages: CallMessages, callee: Callee, values: Values): Buffer {
  messages.begin(callee, 6);
  const array = <Value>(type: ElementType<Value>, elements: readonly (Value | undefined)[]): void =>
    messages.array(type, elements);
  array(TEXT, values.texts);
  array(INT8, values.numbers);
  array(UUID, values.ids);
  array(TIMESTAMPTZ, values.dates);
  array(JSON_TEXT, values.objects);
  messages.text(values.last);
  return messages.end();
}

const toAnswer = ({ texts, numbers, ids, dates, objects, last }: Values): unknown[] => [
  texts.map((text) => text ?? null),
  numbers.map((number) => number?.toString() ?? null),
  ids.map((id) => id ?? null),
  dates.map((date) => date?.getTime() ?? null),
  objects.map((object) => (object === undefined ? null : JSON.parse(object.toString()))),
  JSON.parse(last),
];

const parse = (row: TextFields | undefined): unknown[] =>
  (row ?? []).map((field) => (field === null ? null : JSON.parse(field)));

let seed = 7;
function chance(limit: number): number {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return Math.floor((seed / 2147483648) * limit);
}

const WORDS = ['', 'pod', 'ä', '日本語', '\ud83d\ude00', 'a"b\\c', 'x'.repeat(70)];

function valuesByChance(): Values {
  const some = <Value>(make: () => Value): (Value | undefined)[] =>
    Array.from({ length: 1 + chance(20) }, () => (chance(5) === 0 ? undefined : make()));
  const word = (): string => WORDS[chance(WORDS.length)] ?? '';
  const text = (): string => word().repeat(chance(chance(8) === 0 ? 4000 : 5));
  const json = (): string => JSON.stringify({ name: text() });
  return {
    texts: some(text),
    numbers: some(() => BigInt(chance(2147483648)) * (chance(2) === 0 ? 1n : -4294967296n)),
    ids: some(() => `00000000-0000-4000-8000-${String(chance(1e9)).padStart(12, '0')}`),
    dates: some(() => new Date(chance(2147483648) * 1000 + chance(1000))),
    objects: some(() => Buffer.from(json())),
    last: json(),
  };
}

async function withClient(use: (client: pg.Client) => Promise<void>): Promise<void> {
  await using database = await createTestDatabase({ empty: true });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await use(client).finally(() => client.end());
}

test('values arrive as they were given, call after call in the same memory, whether the session knows the statement or not', async () => {
  await withClient(async (client) => {
    await client.query(`PREPARE all_of_them AS ${TEXT_OF_ALL}`);
    const messages = new CallMessages();
    for (let round = 0; round < 60; round += 1) {
      const values = valuesByChance();
      const callee = round % 2 === 0 ? { name: 'all_of_them' } : { text: TEXT_OF_ALL };
      expect(parse(await call(client, send(messages, callee, values)))).toEqual(toAnswer(values));
    }
  });
});

test('a call larger than any before it arrives whole, and so does the small one behind it', async () => {
  await withClient(async (client) => {
    const messages = new CallMessages();
    const small = valuesByChance();
    const large = { ...small, texts: Array.from({ length: 40 }, (_, at) => `${at}`.repeat(100_000)) };
    for (const values of [small, large, small]) {
      const row = await call(client, send(messages, { text: TEXT_OF_ALL }, values));
      expect(parse(row)).toEqual(toAnswer(values));
    }
  });
});

test('a call that PostgreSQL refuses says why, and the next one on the connection is answered', async () => {
  await withClient(async (client) => {
    const messages = new CallMessages();
    const values = valuesByChance();
    const broken = send(messages, { text: TEXT_OF_ALL }, { ...values, last: '{' });
    await expect(call(client, broken)).rejects.toMatchObject({ code: '22P02' });
    const row = await call(client, send(messages, { text: TEXT_OF_ALL }, values));
    expect(parse(row)).toEqual(toAnswer(values));
  });
});

test('a call whose connection breaks fails with the reason', async () => {
  await withClient(async (client) => {
    client.on('error', () => {});
    const messages = new CallMessages();
    messages.begin({ text: 'SELECT pg_terminate_backend(pg_backend_pid())' }, 0);
    await expect(call(client, messages.end())).rejects.toThrow(/terminat/);
  });
});
