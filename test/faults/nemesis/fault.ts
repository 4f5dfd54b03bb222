import type { Finding } from '../judge/record.ts';
import type { Random } from '../random.ts';
import type { World } from '../world/world.ts';

/** What a fault may use while it lasts. */
export interface Scene {
  readonly world: World;
  readonly random: Random;
  /** What it found out by itself, besides what clients see. */
  found(finding: Finding): void;
  /** Writes that have been acknowledged so far, by one server or by all. */
  acknowledged(server?: number): number;
}

/** Something bad that happens, and ends: when it resolves the world has been put right again, or rights itself. */
export interface Fault {
  readonly name: string;
  run(scene: Scene): Promise<void>;
}
