/** Bad weather: producers produce, the operator operates, and everything fails that may fail. */
import { Draw } from "./draw.ts";
import { drawWeather } from "./settings.ts";
import type { World } from "./world.ts";

export async function storm(
  world: World,
  options: { readonly number: number; readonly steps: number },
): Promise<void> {
  const { time, settings, book, producers, operator, chaos, tally } = world;
  const draw = new Draw(world.seed, `storm ${options.number}`);
  const weather = drawWeather(draw, settings.leaseMs);
  world.setWeather(weather);
  let isOver = false;
  const every = (meanMs: number, act: () => void) => {
    time.timer(draw.wait(meanMs), () => {
      if (isOver) return;
      act();
      every(meanMs, act);
    });
  };
  every(settings.enqueueEveryMs, () => {
    if (book.live >= settings.maxLive) return;
    const able = [...world.processes, world.ops].filter((one) => one.isWorking);
    if (able.length > 0) producers.produce(draw.pick(able));
  });
  every(settings.operateEveryMs, () => operator.act());
  const { control } = settings;
  if (control) every(control.controlEveryMs, () => world.controlRoom?.act());
  every(weather.chaosEveryMs, () => chaos.strike(weather));
  for (let left = options.steps; left > 0 && !world.violation; left -= 1) await world.turn();
  isOver = true;
  tally.count("storms");
}
