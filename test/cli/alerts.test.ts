import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPERATORS, readPage } from '../kit/pages.ts';
import { firingAlerts, hasPromtool } from '../kit/promtool.ts';

const RULES = readFileSync(
  fileURLToPath(new URL('../../src/deploy/chart/files/alerts.yaml', import.meta.url)),
  'utf8',
);

interface Rule {
  readonly alert?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const alerts = (parse(RULES).groups as { rules: Rule[] }[])
  .flatMap(({ rules }) => rules)
  .filter(({ alert }) => alert !== undefined);

test('each alert has a severity, a summary and a line in the runbooks', () => {
  const [, runbooks = ''] = /^## Runbooks$([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(readPage(OPERATORS)) ?? [];
  expect([...runbooks.matchAll(/^\| `(\w+)` \| \S/gm)].map(([, name]) => name)).toEqual(
    alerts.map(({ alert }) => alert),
  );
  for (const { labels, annotations } of alerts) {
    expect(['warning', 'critical']).toContain(labels.severity);
    expect(annotations?.summary).toMatch(/\S/);
    expect(annotations?.runbook).toBe(`${OPERATORS}#runbooks`);
  }
});

const of = (metric: string, labels: string = ''): string =>
  `${metric}{job="pg-apiserver", instance="one:6443"${labels === '' ? '' : `, ${labels}`}}`;

const SLI = 'apiserver_request_sli_duration_seconds_bucket';
/** All requests take longer than the bucket `le`, and at most twice as long. */
function slow(le: number, labels: string): [string, string][] {
  const bucket = (bound: string): string => of(SLI, `${labels}, resource="pods", le="${bound}"`);
  return [
    [bucket(`${le}`), '0x80'],
    [bucket(`${2 * le}`), '0+60x80'],
    [bucket('+Inf'), '0+60x80'],
  ];
}

const UP: [string, string] = [of('up'), '1x80'];
const GIB = 1024 ** 3;

/** What raises each alert, and what is close to it and does not. */
const CASES: Readonly<
  Record<string, { readonly raises: [string, string][][]; readonly not: [string, string][][] }>
> = {
  SlowRequests: {
    raises: [
      slow(1, 'verb="GET", scope="resource"'),
      slow(1, 'verb="DELETECOLLECTION", scope="namespace"'),
      slow(30, 'verb="LIST", scope="cluster"'),
    ],
    not: [
      slow(0.5, 'verb="GET", scope="resource"'),
      slow(15, 'verb="LIST", scope="namespace"'),
      slow(30, 'verb="WATCH", scope="cluster"'),
    ],
  },
  FailingRequests: {
    raises: [
      [
        [of('apiserver_request_total', 'code="503"'), '0+2x80'],
        [of('apiserver_request_total', 'code="200"'), '0+98x80'],
      ],
    ],
    not: [
      [
        [of('apiserver_request_total', 'code="503"'), '0+1x80'],
        [of('apiserver_request_total', 'code="404"'), '0+199x80'],
      ],
    ],
  },
  RejectedByFairness: {
    raises: [
      [
        [
          of('apiserver_flowcontrol_rejected_requests_total', 'priority_level="a", reason="queue-full"'),
          '0+1x80',
        ],
      ],
    ],
    not: [
      [
        [
          of('apiserver_flowcontrol_rejected_requests_total', 'priority_level="a", reason="queue-full"'),
          '7x80',
        ],
      ],
    ],
  },
  ServerDown: {
    raises: [[[of('up'), '1x60 0x20']], [['up{job="other"}', '1x80']]],
    not: [[[of('up'), '1x72 0x2 1x6']]],
  },
  TailLags: {
    raises: [[[of('pg_apiserver_tail_delay_seconds'), '6x80']]],
    not: [[[of('pg_apiserver_tail_delay_seconds'), '6x72 0x8']]],
  },
  TailPolls: {
    raises: [[[of('pg_apiserver_tail_mode', 'mode="streaming"'), '0x80']]],
    not: [[[of('pg_apiserver_tail_mode', 'mode="polling"'), '0x80']]],
  },
  ReadServerOut: {
    raises: [[[of('pg_apiserver_read_server_up', 'server="b:5432"'), '0x80']]],
    not: [[[of('pg_apiserver_read_server_up', 'server="b:5432"'), '1x80']]],
  },
  WritesWait: {
    raises: [[[of('pg_apiserver_commit_queue'), '101x80']]],
    not: [[[of('pg_apiserver_commit_queue'), '999x72 0x1 999x8']]],
  },
  AuditBacklog: {
    raises: [
      [
        [of('pg_apiserver_audit_buffer_events', 'backend="log", state="waiting"'), '6000x80'],
        [of('pg_apiserver_audit_buffer_events', 'backend="log", state="free"'), '4000x80'],
      ],
    ],
    not: [
      [
        [of('pg_apiserver_audit_buffer_events', 'backend="log", state="waiting"'), '4000x80'],
        [of('pg_apiserver_audit_buffer_events', 'backend="log", state="free"'), '6000x80'],
      ],
    ],
  },
  AuditEventsLost: {
    raises: [
      [[of('apiserver_audit_error_total', 'plugin="buffered"'), '3x70 4x10']],
      [[of('apiserver_audit_error_total', 'plugin="buffered"'), '_x70 4x10']],
    ],
    not: [[[of('apiserver_audit_error_total', 'plugin="buffered"'), '3x80']]],
  },
  EpochBegan: {
    raises: [[[of('pg_apiserver_epochs_begun_total'), '0x70 1x10']]],
    not: [[[of('pg_apiserver_epochs_begun_total'), '1x80']]],
  },
  HistoryBehind: {
    raises: [[[of('pg_apiserver_history_partitions_behind'), '1x80']]],
    not: [[[of('pg_apiserver_history_partitions_behind'), '1x60 0x1 1x20']]],
  },
  LongTransaction: {
    raises: [[[of('pg_apiserver_oldest_transaction_seconds'), '0+60x80']]],
    not: [[[of('pg_apiserver_oldest_transaction_seconds'), '3000x80']]],
  },
  SlotKeepsWal: {
    raises: [[[of('pg_apiserver_slot_wal_bytes'), `${11 * GIB}x80`]]],
    not: [[[of('pg_apiserver_slot_wal_bytes'), `${9 * GIB}x80`]]],
  },
};

const firing = (series: readonly [string, string][]): string[] =>
  firingAlerts(
    RULES,
    [...(series.some(([name]) => name.startsWith('up{')) ? [] : [UP]), ...series].map(([name, values]) => ({
      series: name,
      values,
    })),
  );

test('each alert has its cases', () => {
  expect(Object.keys(CASES)).toEqual(alerts.map(({ alert }) => alert));
});

test.runIf(hasPromtool).each(Object.entries(CASES))(
  '%s is raised, and not by less',
  (name, { raises, not }) => {
    for (const series of raises) expect(firing(series), JSON.stringify(series)).toEqual([name]);
    for (const series of not) expect(firing(series), JSON.stringify(series)).toEqual([]);
  },
);
