import { defineFlags } from '../flag.ts';

/** Flags under the heading Storage. */
export const storageFlags = defineFlags('Storage', [
  {
    name: 'storage-backend',
    type: 'string',
    default: 'kvstore3',
    meaning: 'persistence back end',
    effective: false,
  },
  {
    name: 'storage-media-type',
    type: 'string',
    default: 'application/json',
    meaning:
      'media type of stored objects; allowed application/json, application/yaml, application/vnd.cluster.protobuf; some resources ignore it',
    effective: false,
  },
  {
    name: 'storage-initialization-timeout',
    type: 'duration',
    default: '1m0s',
    meaning: 'longest wait for storage before declaring the server ready',
    effective: false,
  },
  {
    name: 'kvstore-servers',
    type: 'strings',
    default: [],
    meaning: 'servers as scheme://ip:port, comma separated',
  },
  {
    name: 'kvstore-servers-overrides',
    type: 'strings',
    default: [],
    meaning:
      'per-resource servers, form group/resource#servers with servers separated by semicolons; built-in resources only',
    effective: false,
  },
  { name: 'kvstore-cafile', type: 'string', default: '', meaning: 'TLS files for storage communication' },
  { name: 'kvstore-certfile', type: 'string', default: '', meaning: 'TLS files for storage communication' },
  { name: 'kvstore-keyfile', type: 'string', default: '', meaning: 'TLS files for storage communication' },
  {
    name: 'kvstore-prefix',
    type: 'string',
    default: '/registry',
    meaning: 'prefix of all resource paths in storage',
    effective: false,
  },
  {
    name: 'kvstore-compaction-interval',
    type: 'duration',
    default: '5m0s',
    meaning: 'compaction request interval; 0 disables',
  },
  {
    name: 'kvstore-count-metric-poll-period',
    type: 'duration',
    default: '1m0s',
    meaning: 'polling period of per-type counts; 0 disables',
  },
  {
    name: 'kvstore-db-metric-poll-interval',
    type: 'duration',
    default: '30s',
    meaning: 'polling interval of the size metric; 0 disables',
  },
  {
    name: 'kvstore-healthcheck-timeout',
    type: 'duration',
    default: '2s',
    meaning: 'timeout for health checks',
  },
  {
    name: 'kvstore-readycheck-timeout',
    type: 'duration',
    default: '2s',
    meaning: 'timeout for readiness checks',
  },
  { name: 'event-ttl', type: 'duration', default: '1h0m0s', meaning: 'how long events are retained' },
  { name: 'watch-cache', type: 'bool', default: true, meaning: 'watch cache on', effective: false },
  {
    name: 'watch-cache-sizes',
    type: 'strings',
    default: [],
    meaning:
      'form resource[.group]#size; only 0 is meaningful and turns caching off for that resource; non-zero values all mean on; only for built-in resources',
    effective: false,
  },
  {
    name: 'encryption-provider-config',
    type: 'string',
    default: '',
    meaning: 'file with encryption providers for storing secrets',
    effective: false,
  },
  {
    name: 'encryption-provider-config-automatic-reload',
    type: 'bool',
    default: false,
    meaning:
      'reload that file on change; when true, distinct KMS plugins cannot be told apart at the health endpoints',
    effective: false,
  },
]);
