import type { AuditEvent, EventUser } from './event.ts';

/** An event as one line of text, for tools that read the log of old (Kubernetes: audit/format.go). */
export function formatLegacy(event: AuditEvent): string {
  const { user, impersonatedUser: other } = event;
  const { code } = event.responseStatus ?? {};
  const fields = {
    id: event.auditID,
    stage: event.stage,
    ip: event.sourceIPs?.[0] ?? '<unknown>',
    method: event.verb,
    user: textOr(user.username, '<none>'),
    groups: textOr(user.username, '') === '' ? '<none>' : groupsOf(user, '<none>'),
    as: other === undefined ? '<self>' : (other.username ?? ''),
    asgroups: other === undefined ? '<lookup>' : groupsOf(other, '<lookup>'),
    'user-agent': event.userAgent ?? '',
    namespace: textOr(event.objectRef?.namespace, '<none>'),
    uri: event.requestURI,
    response: code === undefined ? '<deferred>' : String(code),
  };
  const text = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${event.requestReceivedTimestamp} AUDIT: ${text.join(' ')}`;
}

const textOr = (text: string | undefined, fallback: string): string =>
  text === undefined || text === '' ? fallback : text;

function groupsOf({ groups }: EventUser, fallback: string): string {
  if (groups === undefined || groups.length === 0) return fallback;
  return groups.map((group) => JSON.stringify(group)).join(',');
}
