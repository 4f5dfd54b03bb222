import { defineFlags } from '../flag.ts';

/** Flags under the heading Serving. */
export const servingFlags = defineFlags('Serving', [
  {
    name: 'advertise-address',
    type: 'string',
    default: '',
    meaning:
      "IP advertised to cluster members; must be reachable; when blank the bind address is used, and when that is unspecified the host's default interface",
  },
  {
    name: 'bind-address',
    type: 'string',
    default: '0.0.0.0',
    meaning:
      'IP to listen on for the secure port; blank or unspecified address (0.0.0.0 or ::) means all interfaces and families',
  },
  {
    name: 'secure-port',
    type: 'int',
    default: 6443,
    meaning: 'HTTPS port with authentication and authorization; cannot be switched off with 0',
  },
  {
    name: 'cert-dir',
    type: 'string',
    default: '',
    meaning:
      'directory for TLS certificates, made when missing; ignored when the certificate and key files are given; when not set, the folder certificates of --data-dir, because a laptop has no /var/run/kubernetes to write to',
  },
  {
    name: 'external-hostname',
    type: 'string',
    default: '',
    meaning: 'host name used for externalized URLs (API docs, discovery)',
  },
  {
    name: 'permit-address-sharing',
    type: 'bool',
    default: false,
    meaning: 'use SO_REUSEADDR when binding; the runtime always does',
  },
  {
    name: 'permit-port-sharing',
    type: 'bool',
    default: false,
    meaning: 'use SO_REUSEPORT when binding',
  },
  { name: 'disable-http2-serving', type: 'bool', default: false, meaning: 'disable HTTP/2' },
  {
    name: 'http2-max-streams-per-connection',
    type: 'int',
    default: 0,
    meaning: 'streams limit given to clients; 0 uses the runtime default',
  },
  {
    name: 'goaway-chance',
    type: 'float',
    default: 0.0,
    meaning:
      'fraction of requests sent an HTTP/2 GOAWAY; range 0 to 0.02; 0.001 suggested; not for single-server clusters or setups without a load balancer',
  },
  {
    name: 'cors-allowed-origins',
    type: 'strings',
    default: [],
    meaning: 'allowed origins (may be regular expressions, anchored to the whole host); empty means CORS off',
  },
  {
    name: 'strict-transport-security-directives',
    type: 'strings',
    default: [],
    meaning: 'HSTS directives; empty means none are added',
  },
  {
    name: 'enable-aggregator-routing',
    type: 'bool',
    default: false,
    meaning: 'route aggregator requests to endpoint IPs rather than the cluster IP',
    effective: false,
  },
  {
    name: 'aggregator-reject-forwarding-redirect',
    type: 'bool',
    default: true,
    meaning: 'the aggregator rejects a forwarded redirect response',
    effective: false,
  },
  {
    name: 'endpoint-reconciler-type',
    type: 'string',
    default: 'lease',
    meaning: 'master-count (deprecated), lease or none',
  },
  {
    name: 'cluster-service-node-port',
    type: 'int',
    default: 0,
    meaning: 'if non-zero the API service is of type NodePort using this port; if zero, ClusterIP',
  },
  {
    name: 'service-cluster-ip-range',
    type: 'string',
    default: '',
    meaning:
      'CIDR for service cluster IPs; no overlap with node or pod ranges; at most two (dual-stack) CIDRs; 10.0.0.0/24 when empty',
  },
  {
    name: 'service-node-port-range',
    type: 'string',
    default: '30000-32767',
    meaning: 'port range for NodePort services; inclusive at both ends',
  },
  {
    name: 'profiling',
    type: 'bool',
    default: true,
    meaning: 'profiling through host:port/debug/pprof/',
  },
  {
    name: 'contention-profiling',
    type: 'bool',
    default: false,
    meaning: 'block profiling when profiling is on',
  },
  {
    name: 'debug-socket-path',
    type: 'string',
    default: '',
    meaning: 'unprotected unix-domain socket for profiling',
  },
  {
    name: 'lease-reuse-duration-seconds',
    type: 'int',
    default: 60,
    meaning: 'how long each lease is reused',
    effective: false,
  },
  {
    name: 'livez-grace-period',
    type: 'duration',
    default: undefined,
    meaning: 'time allowed for start-up; /livez assumes unfinished post-start hooks succeed during it',
  },
  {
    name: 'shutdown-delay-duration',
    type: 'duration',
    default: undefined,
    meaning:
      'delay before termination; server keeps serving; /healthz and /livez succeed while /readyz fails',
  },
  {
    name: 'shutdown-send-retry-after',
    type: 'bool',
    default: false,
    meaning:
      'keep listening until non-long-running requests drain; meanwhile reject new ones with 429, Retry-After and Connection: close',
  },
  {
    name: 'shutdown-watch-termination-grace-period',
    type: 'duration',
    default: undefined,
    meaning: 'longest wait for active watches to drain at shutdown',
  },
  {
    name: 'peer-advertise-ip',
    type: 'string',
    default: '',
    meaning:
      'used with the UnknownVersionInteroperabilityProxy gate in multi-server setups: address peers use to proxy requests on version skew, and CA for verifying peer serving certificates',
    effective: false,
  },
  {
    name: 'peer-advertise-port',
    type: 'string',
    default: '',
    meaning:
      'used with the UnknownVersionInteroperabilityProxy gate in multi-server setups: address peers use to proxy requests on version skew, and CA for verifying peer serving certificates',
    effective: false,
  },
  {
    name: 'peer-ca-file',
    type: 'string',
    default: '',
    meaning:
      'used with the UnknownVersionInteroperabilityProxy gate in multi-server setups: address peers use to proxy requests on version skew, and CA for verifying peer serving certificates',
    effective: false,
  },
  {
    name: 'enable-garbage-collector',
    type: 'bool',
    default: true,
    meaning: 'generic garbage collector; must match the controller manager setting',
  },
  {
    name: 'delete-collection-workers',
    type: 'int',
    default: 1,
    meaning: 'workers for deletecollection calls',
  },
  {
    name: 'default-not-ready-toleration-seconds',
    type: 'int',
    default: 300,
    meaning: 'tolerationSeconds of the default notReady:NoExecute toleration added to pods lacking one',
  },
  {
    name: 'default-unreachable-toleration-seconds',
    type: 'int',
    default: 300,
    meaning: 'same, for unreachable:NoExecute',
  },
  {
    name: 'allow-privileged',
    type: 'bool',
    default: false,
    meaning: 'allow privileged containers',
  },
  {
    name: 'enable-priority-and-fairness',
    type: 'bool',
    default: true,
    meaning: 'queueing and dispatching handler with priority and fairness replaces the max-in-flight handler',
  },
  {
    name: 'egress-selector-config-file',
    type: 'string',
    default: '',
    meaning: 'egress selector configuration file',
    effective: false,
  },
  {
    name: 'tracing-config-file',
    type: 'string',
    default: '',
    meaning: 'tracing configuration file',
  },
]);
