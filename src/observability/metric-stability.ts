type Stability = 'ALPHA' | 'BETA' | 'STABLE';

/** The promise that a version of Kubernetes makes about a metric (test/instrumentation/testdata/stable-metrics-list.yaml). */
export function stabilityOf(name: string, minor: number): Stability {
  if (STABLE.has(name)) return 'STABLE';
  return BETA.some(({ since, names }) => minor >= since && names.test(name)) ? 'BETA' : 'ALPHA';
}

const STABLE: ReadonlySet<string> = new Set([
  'apiserver_admission_controller_admission_duration_seconds',
  'apiserver_admission_step_admission_duration_seconds',
  'apiserver_admission_webhook_admission_duration_seconds',
  'apiserver_current_inflight_requests',
  'apiserver_longrunning_requests',
  'apiserver_request_duration_seconds',
  'apiserver_request_total',
  'apiserver_requested_deprecated_apis',
  'apiserver_response_sizes',
  'apiserver_storage_objects',
  'apiserver_storage_size_bytes',
  'kubernetes_healthcheck',
  'kubernetes_healthchecks_total',
]);

const anyOf = (...names: readonly string[]): RegExp => new RegExp(`^(${names.join('|')})$`);

/** The metrics of each stability, with the first version that has them so. */
const BETA: readonly { readonly since: number; readonly names: RegExp }[] = [
  {
    since: 31,
    names: anyOf(
      'apiserver_cel_(compilation|evaluation)_duration_seconds',
      'apiserver_flowcontrol_current_(executing_(requests|seats)|inqueue_requests)',
      'apiserver_flowcontrol_(dispatched|rejected)_requests_total',
      'apiserver_flowcontrol_(nominal_limit_seats|request_wait_duration_seconds)',
      'apiserver_validating_admission_policy_check_(duration_seconds|total)',
      '(disabled|hidden|registered)_metrics_total',
      'kubernetes_feature_enabled',
    ),
  },
  { since: 33, names: anyOf('apiserver_validation_declarative_validation_(mismatch|panic)_total') },
  {
    since: 34,
    names: anyOf(
      'apiserver_auth(entication|orization)_config_controller_automatic_reload(s_total|_last_timestamp_seconds)',
    ),
  },
  {
    since: 36,
    names: anyOf(
      'apiserver_storage_events_received_total',
      'apiserver_watch_list_duration_seconds',
      'kubernetes_build_info',
      'workqueue_(adds|retries)_total',
      'workqueue_depth',
      'workqueue_(longest_running_processor|queue_duration|unfinished_work|work_duration)_seconds',
    ),
  },
];
