import { takeWords } from './chart.ts';

/** Curves of one panel: an expression, and the labels that name its curves. */
type Curve = readonly [expression: string, legend: string];

interface Panel {
  readonly title: string;
  /** As Grafana names it: s, bytes, reqps, short, percentunit. */
  readonly unit: string;
  readonly curves: readonly Curve[];
  /** A value that a line marks: a service level objective. */
  readonly limit?: number;
}

/** `$job` and `$instance` are variables of the dashboard. */
const AT = 'job="$job", instance=~"$instance"';
const SLI = 'apiserver_request_sli_duration_seconds_bucket';

const p99 = (by: string, matchers: string): string =>
  `histogram_quantile(0.99, sum by (${by}, le) (rate(${SLI}{${AT}, ${matchers}}[$__rate_interval])))`;
const rate = (by: string, name: string, matchers = ''): string =>
  `sum by (${by}) (rate(${name}{${AT}${matchers}}[$__rate_interval]))`;
const value = (name: string, legend = '{{instance}}'): Curve => [`${name}{${AT}}`, legend];

const ROWS: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    'Service level objectives',
    [
      {
        title: 'p99 of a single object, by verb (objective: 1 s)',
        unit: 's',
        curves: [[p99('verb', 'scope="resource", verb!~"WATCH|CONNECT"'), '{{verb}}']],
        limit: 1,
      },
      {
        title: 'p99 of lists, by scope (objective: 30 s)',
        unit: 's',
        curves: [[p99('scope', 'verb="LIST", scope=~"namespace|cluster"'), '{{scope}}']],
        limit: 30,
      },
      {
        title: 'Requests that failed with 5xx',
        unit: 'percentunit',
        curves: [
          [
            `${rate('job', 'apiserver_request_total', ', code=~"5.."')} / ${rate('job', 'apiserver_request_total')}`,
            'failed',
          ],
        ],
        limit: 0.01,
      },
    ],
  ],
  [
    'Requests',
    [
      {
        title: 'Requests, by verb',
        unit: 'reqps',
        curves: [[rate('verb', 'apiserver_request_total'), '{{verb}}']],
      },
      {
        title: 'Watches, by resource',
        unit: 'short',
        curves: [[`topk(10, sum by (resource) (pg_apiserver_watchers{${AT}}))`, '{{resource}}']],
      },
      {
        title: 'Refused by priority and fairness',
        unit: 'reqps',
        curves: [
          [
            rate('priority_level, reason', 'apiserver_flowcontrol_rejected_requests_total'),
            '{{priority_level}} {{reason}}',
          ],
        ],
      },
      {
        title: 'Requests that wait for their turn',
        unit: 'short',
        curves: [
          [
            `sum by (priority_level) (apiserver_flowcontrol_current_inqueue_requests{${AT}})`,
            '{{priority_level}}',
          ],
        ],
      },
    ],
  ],
  [
    'Servers',
    [
      {
        title: 'Changes are applied after their commit',
        unit: 's',
        curves: [value('pg_apiserver_tail_delay_seconds')],
        limit: 5,
      },
      {
        title: 'How changes arrive',
        unit: 'short',
        curves: [[`sum by (mode) (pg_apiserver_tail_mode{${AT}})`, '{{mode}}']],
      },
      {
        title: 'Writes that wait for their batch',
        unit: 'short',
        curves: [value('pg_apiserver_commit_queue')],
      },
      {
        title: 'Connections to the database',
        unit: 'short',
        curves: [[`sum by (state) (pg_apiserver_pool_connections{${AT}})`, '{{state}}']],
      },
      {
        title: 'Audit events that wait',
        unit: 'short',
        curves: [
          [`pg_apiserver_audit_buffer_events{${AT}, state="waiting"}`, '{{instance}} {{backend}}'],
          [rate('plugin', 'apiserver_audit_error_total'), 'lost a second: {{plugin}}'],
        ],
      },
      { title: 'Memory', unit: 'bytes', curves: [value('process_resident_memory_bytes')] },
      {
        title: 'CPU',
        unit: 'short',
        curves: [[rate('instance', 'process_cpu_seconds_total'), '{{instance}}']],
      },
    ],
  ],
  [
    'History and database',
    [
      {
        title: 'Size of the database',
        unit: 'bytes',
        curves: [[`max(apiserver_storage_size_bytes{${AT}})`, 'database']],
      },
      {
        title: 'Objects',
        unit: 'short',
        curves: [[`topk(10, max by (resource) (apiserver_storage_objects{${AT}}))`, '{{resource}}']],
      },
      {
        title: 'The oldest history should have gone before',
        unit: 's',
        curves: [value('pg_apiserver_history_behind_seconds')],
      },
      {
        title: 'Partitions behind the window',
        unit: 'short',
        curves: [value('pg_apiserver_history_partitions_behind')],
      },
      {
        title: 'Oldest transaction',
        unit: 's',
        curves: [value('pg_apiserver_oldest_transaction_seconds', '{{user}}: {{application}}, {{process}}')],
      },
      {
        title: 'WAL kept for the slowest slot',
        unit: 'bytes',
        curves: [value('pg_apiserver_slot_wal_bytes')],
      },
      { title: 'Epochs begun', unit: 'short', curves: [value('pg_apiserver_epochs_begun_total')] },
      {
        title: 'Time for upkeep of the log',
        unit: 'percentunit',
        curves: [[rate('kind', 'pg_apiserver_upkeep_seconds_total'), '{{kind}}']],
      },
    ],
  ],
];

/** `dashboard`: prints JSON that Grafana imports. @throws UsageError */
export async function printDashboard(words: readonly string[]): Promise<void> {
  takeWords('dashboard', '', words);
  process.stdout.write(`${JSON.stringify(createDashboard(), undefined, 2)}\n`);
}

const WIDTH = 24;
const HEIGHT = 8;
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

/** In Grafana's JSON model. Panels stand in rows of three. */
function createDashboard() {
  const panels: object[] = [];
  let top = 0;
  const add = (place: { x: number; y: number; w: number; h: number }, panel: object): void => {
    panels.push({ id: panels.length + 1, gridPos: place, ...panel });
  };
  for (const [title, shown] of ROWS) {
    add({ x: 0, y: top, w: WIDTH, h: 1 }, { type: 'row', title, collapsed: false, panels: [] });
    const perRow = shown.length % 4 === 0 ? 4 : 3;
    const width = WIDTH / perRow;
    for (const [at, panel] of shown.entries()) {
      const y = top + 1 + Math.floor(at / perRow) * HEIGHT;
      add({ x: (at % perRow) * width, y, w: width, h: HEIGHT }, toPanel(panel));
    }
    top += 1 + Math.ceil(shown.length / perRow) * HEIGHT;
  }
  return {
    uid: 'pg-apiserver',
    title: 'pg-apiserver',
    tags: ['kubernetes', 'postgresql'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: VARIABLES },
    panels,
  };
}

function toPanel({ title, unit, curves, limit }: Panel): object {
  const steps = [
    { color: 'green', value: null },
    ...(limit === undefined ? [] : [{ color: 'red', value: limit }]),
  ];
  return {
    type: 'timeseries',
    title,
    datasource: DATASOURCE,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        thresholds: { mode: 'absolute', steps },
        custom: { thresholdsStyle: { mode: limit === undefined ? 'off' : 'line' } },
      },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: curves.map(([expr, legendFormat], at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}

const ofServers = (name: string, label: string, query: string, isMany: boolean): object => ({
  type: 'query',
  name,
  label,
  datasource: DATASOURCE,
  query,
  refresh: 2,
  ...(isMany
    ? { multi: true, includeAll: true, allValue: '.*', current: { text: 'All', value: '$__all' } }
    : {}),
});

const VARIABLES: readonly object[] = [
  { type: 'datasource', name: 'datasource', label: 'Prometheus', query: 'prometheus' },
  ofServers('job', 'Cluster', 'label_values(pg_apiserver_applied_revision, job)', false),
  ofServers('instance', 'Server', 'label_values(pg_apiserver_applied_revision{job="$job"}, instance)', true),
];
