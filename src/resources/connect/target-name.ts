import { badRequest } from '../../api/status.ts';

export interface TargetName {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number or a name; '' for none. */
  readonly port: string;
}

/** `name`, `name:port` or `scheme:name:port`. @throws StatusError 400. `kind` is for the message */
export function parseTargetName(text: string, kind: string): TargetName {
  const parts = text.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  const known = scheme === '' || scheme === 'http' || scheme === 'https';
  if (parts.length > 3 || name === '' || !known) {
    throw badRequest(`invalid ${kind} request ${JSON.stringify(text)}`);
  }
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port };
}
