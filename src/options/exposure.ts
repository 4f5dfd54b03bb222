import { BlockList, isIP } from 'node:net';
import { UsageError } from './flag.ts';
import type { ServerOptions } from './options.ts';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whoever may do everything on a network must have been meant to. Kubernetes' default, AlwaysAllow, is one for a developer's own
 * machine: on any other address it has to be asked for by name.
 * @throws UsageError
 */
export function checkExposure({ bindAddress, authorizationIsDefault }: ServerOptions): void {
  if (!authorizationIsDefault || isLoopback(bindAddress)) return;
  const address = bindAddress === '' ? 'all addresses' : bindAddress;
  throw new UsageError(
    `--authorization-mode is not given, and without it everybody with credentials may do everything on ${address}: add --authorization-mode=Node,RBAC, or --bind-address=127.0.0.1, or --authorization-mode=AlwaysAllow if that is meant`,
  );
}

function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
