/** Owns how limits are written in the settings, and reading them: rates, attempts, proxies. Which settings there are is `config.ts`'s. */
import { BlockList, isIP } from "node:net";

/** `<reads a minute>/<writes a minute>x<burst>`. */
export const ratePairForm = "^[1-9]\\d{0,6}/[1-9]\\d{0,6}x[1-9]\\d?(\\.\\d{1,2})?$";
/** `<requests a minute>x<burst>`. */
export const rateForm = "^[1-9]\\d{0,6}x[1-9]\\d?(\\.\\d{1,2})?$";
/** `<attempts>/<time>`. */
export const attemptsForm = "^[1-9]\\d{0,2}/[1-9]\\d{0,3}[smh]$";

export interface Rate {
  perMinute: number;
  /** At once after a rest: the rate times the burst, in whole requests. */
  capacity: number;
}

/** Of one kind of caller. */
export interface RatePair {
  read: Rate;
  write: Rate;
}

export interface AttemptLimit {
  /** In any window of this length. */
  max: number;
  windowMs: number;
}

const rateOf = (perMinute: number, burst: number): Rate => ({
  perMinute,
  // In hundredths, as it is written: 1.15 × 100 would fall short of 115.
  capacity: Math.floor((perMinute * Math.round(burst * 100)) / 100),
});

/** @param text of `ratePairForm` */
export const ratePairOf = (text: string): RatePair => {
  const [read, write, burst] = text.split(/[/x]/).map(Number) as [number, number, number];
  return { read: rateOf(read, burst), write: rateOf(write, burst) };
};

/** @param text of `rateForm` */
export const singleRateOf = (text: string): Rate => {
  const [perMinute, burst] = text.split("x").map(Number) as [number, number];
  return rateOf(perMinute, burst);
};

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** @param text of `attemptsForm` */
export const attemptLimitOf = (text: string): AttemptLimit => {
  const [max = "", time = ""] = text.split("/");
  return { max: Number(max), windowMs: Number(time.slice(0, -1)) * (unitMs[time.slice(-1)] ?? 0) };
};

const familyOf = (address: string): "ipv4" | "ipv6" | undefined =>
  ([undefined, undefined, undefined, undefined, "ipv4", undefined, "ipv6"] as const)[isIP(address)];

/**
 * @param text addresses and networks (`10.0.0.0/8`), comma separated
 * @throws TypeError naming the one that is neither
 */
export const proxiesOf = (text: string): BlockList => {
  const proxies = new BlockList();
  for (const entry of text.split(",").map((part) => part.trim())) {
    const [address = "", bits, ...rest] = entry.split("/");
    const family = familyOf(address);
    const bitsMax = family === "ipv4" ? 32 : 128;
    const prefix = bits === undefined ? bitsMax : Number(bits);
    const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && prefix <= bitsMax);
    if (family === undefined || !isPrefix || rest.length > 0)
      throw new TypeError(`${entry} is neither an address nor a network`);
    proxies.addSubnet(address, prefix, family);
  }
  return proxies;
};
