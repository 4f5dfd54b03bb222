import { networkText } from '../outbound/network-text.ts';
import { authorityOf, type Backend, BackendError } from '../request/backend.ts';

export function toBackendError(error: NodeJS.ErrnoException, backend: Backend): BackendError {
  if (error instanceof BackendError) return error;
  const port = backend.port || (backend.scheme === 'https' ? '443' : '80');
  const authority = authorityOf({ ...backend, port });
  return new BackendError(networkText(error, { host: backend.host, authority }), { cause: error });
}
