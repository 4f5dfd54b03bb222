import { pause, unlessAborted } from '../../../util/pause.ts';
import { toRevision } from '../../revision.ts';
import type { Condition } from '../connection/condition.ts';
import { type Connection, type ConnectionOptions, connectReadable } from '../connection/connection.ts';
import { withoutWarning } from '../connection/statements.ts';
import { describeTrouble } from '../connection/trouble.ts';
import { CONFIRM, LEAVE_WITNESSES, PRIMARY_STATE, RENEW_WITNESS } from '../read/queries.ts';
import type { HostWatch } from './host-watch.ts';
import type { KnownHistory } from './known-history.ts';
import { LEASE_MS, type Lease } from './primary-lease.ts';
import type { Witness } from './witness.ts';

const BEAT_MS = 1000;
/** A commit that waits longer for its standby would end after the lease anyway. */
const BEAT_TIMEOUT_MS = LEASE_MS - 1000;

/**
 * PrimaryGuard makes sure that the primary is the one. Every second it looks at all hosts, commits that this server lives, on which
 * the lease rests, and writes what this server has seen into a file.
 */
export class PrimaryGuard {
  readonly #options: GuardOptions;
  #connection: GuardConnection | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Why the primary cannot be used; undefined when it can. */
  get trouble(): string | undefined {
    return this.#options.lease.trouble;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#options.watch.run(signal), this.#beatOn(signal)]);
  }

  /** Notes what was seen last, and withdraws this server as a witness, so that others need not wait for it. */
  async close(): Promise<void> {
    const { watch, witness } = this.#options;
    await watch.close();
    await this.#note();
    const client = this.#connection?.client;
    if (client !== undefined && witness?.isKnown === true) {
      const leave = (): Promise<unknown> => LEAVE_WITNESSES.run(client, { server: witness.server });
      await unlessAborted(leave, AbortSignal.timeout(BEAT_MS)).catch(() => {});
    }
    await this.#drop();
  }

  async #beatOn(signal: AbortSignal): Promise<void> {
    const { condition, watch } = this.#options;
    const forget = watch.hosts.onFenced((url) => {
      if (this.#connection?.route.url === url) void this.#drop();
    });
    while (!signal.aborted) {
      try {
        const inTime = AbortSignal.any([signal, AbortSignal.timeout(LEASE_MS)]);
        await unlessAborted(() => this.#beat(inTime), inTime);
        condition.worked();
      } catch (error) {
        if (signal.aborted) break;
        condition.failed(describeTrouble(error));
        await this.#drop();
      }
      await this.#note();
      await pause(BEAT_MS, signal);
    }
    forget();
  }

  async #beat(signal: AbortSignal): Promise<void> {
    const { lease, history, witness } = this.#options;
    this.#connection ??= await this.#connect(signal);
    const { client, isReadOnly } = this.#connection;
    const sentMs = lease.now;
    // First, because a commit may wait for standbys without end.
    const [state] = await PRIMARY_STATE.run(client, {});
    const waits = state?.waits === 't';
    lease.learn(waits);
    history.began(toRevision(state?.epoch ?? 0));
    if (witness?.isKnown === true && !isReadOnly) {
      const { server } = witness;
      await withoutWarning(client, () => RENEW_WITNESS.run(client, { server }));
    } else if (waits) await withoutWarning(client, () => CONFIRM.run(client, {}));
    lease.confirmed(sentMs);
    // It may take writes next time.
    if (isReadOnly) await this.#drop();
  }

  /** Connects also to a primary that takes no writes for now: its messages show whether standbys follow it. */
  async #connect(signal: AbortSignal): Promise<GuardConnection> {
    const connection = await connectReadable(this.#options.connection, 'witness');
    if (signal.aborted) {
      // The next beat makes its own.
      await connection.close();
      throw new Error('the connection came too late');
    }
    // Without it, giving up would leave a backend that waits for the standby for ever.
    if (connection.prepares) await connection.client.query(`SET statement_timeout = ${BEAT_TIMEOUT_MS}`);
    return connection;
  }

  async #note(): Promise<void> {
    const { history, witness, onTrouble } = this.#options;
    const shown =
      history.visible > (witness?.shown ?? 0n) ? history.visible : (witness?.shown ?? history.visible);
    await witness
      ?.write({ newest: history.newest, shown })
      .catch((error: unknown) =>
        onTrouble(`what is known of history cannot be noted: ${describeTrouble(error)}`),
      );
  }

  async #drop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }
}

type GuardConnection = Connection & { readonly isReadOnly: boolean };

interface GuardOptions {
  readonly connection: ConnectionOptions;
  readonly watch: HostWatch;
  readonly lease: Lease;
  readonly history: KnownHistory;
  /** Undefined without a file: this server vouches for nothing. */
  readonly witness: Witness | undefined;
  readonly condition: Condition;
  /** One line for the log, of what may last. */
  readonly onTrouble: (line: string) => void;
}
