import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { pluginsOf } from '../../src/admission/all-plugins.ts';
import { ALL_FLAGS } from '../../src/options/all-flags.ts';

/** A type, its default, and the flags that have both. Flags of this server alone are left out. */
const DEFAULTS = `
bool false:
  allow-privileged audit-log-batch-throttle-enable audit-log-compress audit-log-truncate-enabled
  audit-webhook-truncate-enabled contention-profiling disable-http2-serving enable-aggregator-routing
  enable-bootstrap-token-auth encryption-provider-config-automatic-reload help log-text-split-stream
  permit-address-sharing permit-port-sharing shutdown-send-retry-after
bool true:
  aggregator-reject-forwarding-redirect anonymous-auth audit-webhook-batch-throttle-enable
  enable-garbage-collector enable-priority-and-fairness profiling service-account-extend-token-expiration
  service-account-lookup watch-cache
duration:
  audit-log-batch-max-wait livez-grace-period service-account-max-token-expiration shutdown-delay-duration
  shutdown-watch-termination-grace-period
duration 10s: audit-webhook-initial-backoff
duration 1h0m0s: event-ttl
duration 1m0s: kvstore-count-metric-poll-period request-timeout storage-initialization-timeout
duration 2m0s: authentication-token-webhook-cache-ttl
duration 2s: kvstore-healthcheck-timeout kvstore-readycheck-timeout
duration 30s:
  audit-webhook-batch-max-wait authorization-webhook-cache-unauthorized-ttl
  kvstore-db-metric-poll-interval
duration 5m0s: authorization-webhook-cache-authorized-ttl kvstore-compaction-interval
duration 5s: agent-timeout log-flush-frequency
float: audit-log-batch-throttle-qps
float 0: goaway-chance
float 10: audit-webhook-batch-throttle-qps
int: audit-log-batch-throttle-burst audit-log-maxage audit-log-maxbackup audit-log-maxsize
int 0: cluster-service-node-port http2-max-streams-per-connection max-connection-bytes-per-sec v
int 1: audit-log-batch-max-size delete-collection-workers
int 10000: audit-log-batch-buffer-size audit-webhook-batch-buffer-size
int 102400: audit-log-truncate-max-event-size audit-webhook-truncate-max-event-size
int 10485760: audit-log-truncate-max-batch-size audit-webhook-truncate-max-batch-size
int 15: audit-webhook-batch-throttle-burst
int 1800: min-request-timeout
int 200: max-mutating-requests-inflight
int 300: default-not-ready-toleration-seconds default-unreachable-toleration-seconds
int 400: audit-webhook-batch-max-size max-requests-inflight
int 60: lease-reuse-duration-seconds
int 6443: secure-port
repeated: allow-metric-labels tls-sni-cert-key
strings:
  api-audiences authorization-mode cors-allowed-origins disable-admission-plugins disabled-metrics
  emulated-version enable-admission-plugins feature-gates kvstore-servers kvstore-servers-overrides
  oidc-required-claim requestheader-allowed-names requestheader-extra-headers-prefix
  requestheader-group-headers requestheader-username-headers runtime-config service-account-issuer
  strict-transport-security-directives tls-cipher-suites vmodule watch-cache-sizes
strings Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP: agent-preferred-address-types
strings RS256: oidc-signing-algs
strings TLS private key file: service-account-key-file
string:
  admission-control-config-file advertise-address agent-certificate-authority agent-client-certificate
  agent-client-key allow-metric-labels-manifest audit-log-path audit-policy-file audit-webhook-config-file
  authentication-config authentication-token-webhook-config-file authorization-config
  authorization-policy-file authorization-webhook-config-file cert-dir client-ca-file debug-socket-path
  egress-selector-config-file encryption-provider-config external-hostname kvstore-cafile kvstore-certfile
  kvstore-keyfile oidc-ca-file oidc-client-id oidc-groups-claim oidc-groups-prefix oidc-issuer-url
  oidc-username-prefix peer-advertise-ip peer-advertise-port peer-ca-file proxy-client-cert-file proxy-client-key-file requestheader-client-ca-file
  service-account-jwks-uri service-account-signing-key-file service-cluster-ip-range
  show-hidden-metrics-for-version tls-cert-file tls-min-version tls-private-key-file token-auth-file
  tracing-config-file
string /registry: kvstore-prefix
string 0: log-text-info-buffer-size
string 0.0.0.0: bind-address
string 30000-32767: service-node-port-range
string application/json: storage-media-type
string audit.cluster.io/v1: audit-log-version audit-webhook-version
string batch: audit-webhook-mode
string blocking: audit-log-mode
string json: audit-log-format
string kvstore3: storage-backend
string lease: endpoint-reconciler-type
string sub: oidc-username-claim
string text: logging-format
string v1beta1: authentication-token-webhook-version authorization-webhook-version
version: version
`;

const toText = (value: unknown): string => (value === undefined ? '' : String(value));

test('every flag that clusters know has its type and its default', () => {
  const known = new Map(
    ALL_FLAGS.map(({ name, type, default: value }) => [name, `${type} ${toText(value)}`.trim()]),
  );
  const groups: Readonly<Record<string, string>> = parse(DEFAULTS);
  const wanted = Object.entries(groups).flatMap(([shape, names]) =>
    names.split(' ').map((name) => [name, shape] as const),
  );
  expect(new Set(wanted.map(([name]) => name)).size).toBe(159);
  for (const [name, shape] of wanted) expect(known.get(name), name).toBe(shape);
});

test('the plugins that are on and those that are not are the ones of Kubernetes 1.31', () => {
  const named = (isDefault: boolean): string[] =>
    pluginsOf(31)
      .filter((plugin) => plugin.isDefault === isDefault)
      .map(({ name }) => name)
      .sort();
  expect(named(true).join(' ')).toBe(
    'CertificateApproval CertificateSigning CertificateSubjectRestriction ClusterTrustBundleAttest DefaultIngressClass ' +
      'DefaultStorageClass DefaultTolerationSeconds LimitRanger MutatingAdmissionWebhook NamespaceLifecycle ' +
      'PersistentVolumeClaimResize PodSecurity Priority ResourceQuota RuntimeClass ServiceAccount ' +
      'StorageObjectInUseProtection TaintNodesByCondition ValidatingAdmissionPolicy ValidatingAdmissionWebhook',
  );
  expect(named(false).join(' ')).toBe(
    'AlwaysAdmit AlwaysDeny AlwaysPullImages DenyServiceExternalIPs EventRateLimit ExtendedResourceToleration ' +
      'ImagePolicyWebhook LimitPodHardAntiAffinityTopology NamespaceAutoProvision NamespaceExists NodeRestriction ' +
      'OwnerReferencesPermissionEnforcement PodNodeSelector PodTolerationRestriction',
  );
});
