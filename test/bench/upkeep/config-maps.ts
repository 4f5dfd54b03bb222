import type { RowTemplate } from '../limit/rows.ts';

/** Config maps of about so many bytes each. */
export function configMapOf(bytes: number): RowTemplate {
  const metadata = { name: 'settings-$N', namespace: 'default', uid: '$U' };
  const line = 'server.tuning.parameter=some-value-that-is-fairly-typical\n';
  const rest = Math.max(0, bytes - 200);
  const data = { 'application.properties': line.repeat(Math.ceil(rest / line.length)).slice(0, rest) };
  const json = JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data });
  return { kind: 'configmaps', namespace: 'default', name: 'settings-$N', json };
}
