import type { Queryable } from '../connection/prepared.ts';
import { type ManagedService, SERVICE, toService } from '../examination/managed-service.ts';

/** Amazon gives a role instead of the REPLICATION attribute; few servers have it, so it is looked up by name. */
export const MAY_REPLICATE = `(
      (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user)
      OR EXISTS (
        SELECT FROM pg_roles WHERE rolname = 'rds_replication'
          AND pg_has_role(current_user, oid, 'member')
      ))`;

/** Thrown where the user may not replicate: then changes are polled. */
export class ReplicationDenied extends Error {
  constructor(user: string, service: ManagedService) {
    const role = JSON.stringify(user);
    super(`the user ${role} may not replicate; where it may, they are streamed: ${service.replicates(role)}`);
    this.name = 'ReplicationDenied';
  }
}

/** Checks before the attempt, which PostgreSQL would log as fatal each time. @throws ReplicationDenied */
export async function assertMayReplicate(client: Queryable): Promise<void> {
  const { rows } = await client.query<{ may: string; usr: string; service: string | null }>({
    text: `SELECT ${MAY_REPLICATE} AS may, current_user AS usr, ${SERVICE} AS service`,
  });
  const [{ may = 'f', usr = '', service = null } = {}] = rows;
  if (may !== 't') throw new ReplicationDenied(usr, toService(service));
}
