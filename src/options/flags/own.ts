import { defineFlags } from '../flag.ts';

/** Flags that only this server has. */
export const ownFlags = defineFlags('pg-apiserver', [
  {
    name: 'data-dir',
    type: 'string',
    default: '.pg-apiserver',
    meaning:
      'folder for certificates, the admin kubeconfig and, without --kvstore-servers, the embedded PostgreSQL',
  },
  {
    name: 'history-window',
    type: 'duration',
    default: '5m',
    meaning:
      'how far back history is kept: how old a watch may start, and what SQL can look back on; days or months are fine; ' +
      'kept in the database for all servers, and left as it is there by one that is started without it',
  },
  {
    name: 'api-domains',
    type: 'strings',
    default: ['k8s.io', 'cluster.io'],
    meaning: 'domains under which discovery lists API groups; both are always served',
  },
]);
