import { darken, lighten, mix } from "../colour.ts";
import type { Brush } from "../scene.ts";
import { circle, ellipse, group, path, rect, stroke } from "../svg.ts";

export function paintPerson(brush: Brush): string {
  const { tone, random, colour } = brush;
  const coat = tone(colour);
  const skin = tone(random.pick(["#f2c9a1", "#d9a074", "#a86f4a", "#7a4b32", "#f0d3b8"]));
  const hair = tone(random.pick(["#2c2320", "#5a3a26", "#8a5a30", "#c9a15e", "#1f2230"]));
  const trousers = tone(brush.colours[1] ?? random.pick(["#36405c", "#4a4440", "#2f4a4f"]));
  const stride = random.range(4, 9);
  const pack = random.chance(0.45)
    ? rect(-15, -74, 10, 25, tone(brush.palette.accents[1] ?? "#c97b3a"), { rx: 4 })
    : "";
  const figure =
    stroke(`M-3 -40L${-stride} -3M3 -40L${stride + 1} -3`, trousers, 7.4) +
    stroke(`M${-stride} -2h5M${stride + 1} -2h5`, tone("#2a2528"), 5) +
    pack +
    path("M-9 -76C-6 -81 6 -81 9 -76C12 -62 11 -48 10 -36C4 -33 -4 -33 -10 -36C-11 -48 -12 -62 -9 -76Z", coat) +
    path("M2 -79C5 -79 8 -78 9 -76C12 -62 11 -48 10 -36C7 -34.500 4 -34 2 -33.800Z", tone(darken(colour, 0.3)), {
      "fill-opacity": 0.7,
    }) +
    stroke("M-8 -73Q-15 -60 -11 -46", tone(darken(colour, 0.12)), 5) +
    stroke("M8 -73Q15 -62 14 -48", coat, 5) +
    circle(14, -46, 2.7, skin) +
    rect(-3, -84, 6, 7, skin) +
    circle(0, -90, 8.6, skin) +
    path("M-9 -89C-11 -102 10 -104 9.500 -90C6 -95 0 -95 -3 -96C-4 -92 -6 -90 -9 -85Z", hair);
  return group(random.chance(0.5) ? "scale(-1 1)" : "", figure);
}

export function paintRobot(brush: Brush): string {
  const { tone, gradients, colour, palette } = brush;
  const second = brush.colours[1] ?? "#39415a";
  const plate = gradients.linear([
    [0, tone(lighten(colour, 0.4))],
    [0.5, tone(colour)],
    [1, tone(darken(colour, 0.35))],
  ]);
  const steel = gradients.linear([
    [0, tone(lighten(second, 0.45))],
    [1, tone(darken(second, 0.2))],
  ]);
  const light = palette.accents[2] ?? "#4ff0e0";
  const eye = (x: number) =>
    circle(
      x,
      -82,
      7,
      gradients.radial([
        [0, lighten(light, 0.5), 0.9],
        [1, light, 0],
      ]),
    ) + circle(x, -82, 3, "#f4fffd");
  return (
    stroke("M0 -98V-108", tone("#8a93a6"), 1.4) +
    circle(0, -109, 2.6, tone(lighten(colour, 0.3))) +
    rect(-14, -30, 9, 24, steel, { rx: 3 }) +
    rect(5, -30, 9, 24, steel, { rx: 3 }) +
    rect(-18, -8, 15, 8, plate, { rx: 3 }) +
    rect(3, -8, 15, 8, plate, { rx: 3 }) +
    rect(-33, -62, 9, 28, steel, { rx: 4.5 }) +
    rect(24, -62, 9, 28, steel, { rx: 4.5 }) +
    circle(-28.5, -32, 5.4, plate) +
    circle(28.5, -32, 5.4, plate) +
    rect(-5, -70, 10, 8, steel) +
    rect(-24, -66, 48, 38, plate, { rx: 8 }) +
    rect(-15, -58, 30, 17, tone(darken(second, 0.35)), { rx: 3 }) +
    [-8, 0, 8].map((x, i) => circle(x, -49.5, 2.6, palette.accents[i % palette.accents.length] ?? light)).join("") +
    stroke("M-14 -34H14", tone(darken(colour, 0.4)), 1.6) +
    rect(-22, -98, 44, 30, plate, { rx: 9 }) +
    rect(-17, -91, 34, 17, tone("#1a2136"), { rx: 7 }) +
    eye(-8) +
    eye(8) +
    rect(-26, -88, 5, 10, steel, { rx: 2 }) +
    rect(21, -88, 5, 10, steel, { rx: 2 })
  );
}

export function paintCat(brush: Brush): string {
  const { tone, random } = brush;
  const fur = brush.colours[0] ?? random.pick(["#e0974f", "#8a8f99", "#3a3a44", "#f0e6d6", "#b98a5e"]);
  const [body, dark, pale] = [tone(fur), tone(darken(fur, 0.32)), tone(lighten(fur, 0.5))];
  const eyes = tone(random.pick(["#8fd14f", "#f2c230", "#5fc4e0"]));
  const stripes = brush.detailed
    ? stroke(
        "M-21 -34Q-14 -32 -10 -36M-23 -24Q-15 -22 -11 -26M21 -34Q14 -32 10 -36M23 -24Q15 -22 11 -26M-5 -92L-3 -84M5 -92L3 -84M0 -93V-85",
        dark,
        2.2,
      )
    : "";
  const figure =
    stroke("M20 -6C44 -2 44 -30 34 -42", dark, 7.5) +
    stroke("M20 -6C42 -3 42 -29 33.500 -40", body, 5) +
    path("M-16 -62C-28 -44 -30 -14 -22 0H22C30 -14 28 -44 16 -62Z", body) +
    path("M-9 -56C-13 -38 -12 -16 -10 -4H10C12 -16 13 -38 9 -56Z", pale) +
    stroke("M-8 -30V-3M8 -30V-3", dark, 1.2) +
    ellipse(-12, -2.6, 9, 4.6, body) +
    ellipse(12, -2.6, 9, 4.6, body) +
    path("M-23 -72L-22 -102L-7 -90ZM23 -72L22 -102L7 -90Z", body) +
    path("M-20 -80L-19.500 -95L-11 -88ZM20 -80L19.500 -95L11 -88Z", tone("#f0a8a8")) +
    ellipse(0, -74, 24, 20, body) +
    stripes +
    ellipse(-6, -66, 8, 6.4, pale) +
    ellipse(6, -66, 8, 6.4, pale) +
    [-10, 10]
      .map(
        (x) =>
          ellipse(x, -77, 5, 5.4, eyes) + ellipse(x, -77, 1.8, 4.8, "#14161c") + circle(x - 1.5, -79, 1.2, "#ffffff"),
      )
      .join("") +
    path("M-3 -70H3L0 -66.500Z", tone("#e27f86")) +
    stroke("M0 -66.500Q-3 -62 -7 -63.500M0 -66.500Q3 -62 7 -63.500", dark, 1.1) +
    stroke("M-12 -67L-32 -70M-12 -64L-31 -61M12 -67L32 -70M12 -64L31 -61", tone("#fbf6ee"), 0.7);
  return group(random.chance(0.5) ? "scale(-1 1)" : "", figure);
}

export function paintDog(brush: Brush): string {
  const { tone, random } = brush;
  const fur = brush.colours[0] ?? random.pick(["#c58b52", "#8a6142", "#e8d8bd", "#4a4348", "#d9a566"]);
  const [body, dark, pale] = [tone(fur), tone(darken(fur, 0.35)), tone(lighten(fur, 0.5))];
  const collar = tone(brush.colours[1] ?? brush.palette.accents[0]);
  const figure =
    stroke("M22 -10C38 -14 42 -26 38 -38", body, 6.4) +
    path("M-17 -60C-28 -40 -28 -14 -22 0H24C32 -14 28 -42 17 -60Z", body) +
    path("M-10 -56C-13 -40 -11 -20 -9 -6H9C11 -20 13 -40 10 -56Z", pale) +
    stroke("M-9 -30V-3M9 -30V-3", dark, 1.2) +
    ellipse(-13, -3, 10, 5, body) +
    ellipse(13, -3, 10, 5, body) +
    path("M-17 -60C-8 -54 8 -54 17 -60L16 -54C8 -49 -8 -49 -16 -54Z", collar) +
    circle(0, -49, 3, tone("#f2cf5a")) +
    ellipse(0, -78, 21, 20, body) +
    path(
      "M-16 -94C-30 -94 -34 -72 -28 -60C-20 -62 -16 -76 -13 -86ZM16 -94C30 -94 34 -72 28 -60C20 -62 16 -76 13 -86Z",
      dark,
    ) +
    ellipse(0, -69, 12, 10, pale) +
    ellipse(0, -74, 5, 3.8, tone("#22201f")) +
    stroke("M0 -70V-66Q-4 -62 -8 -64M0 -66Q4 -62 8 -64", tone("#3a2f2c"), 1.2) +
    path("M-3.500 -63C-3.500 -56 3.500 -56 3.500 -63Z", tone("#ef7f88")) +
    [-8, 8].map((x) => circle(x, -82, 3.2, tone("#2a1f1a")) + circle(x - 1, -83, 1.1, "#ffffff")).join("");
  return group(random.chance(0.5) ? "scale(-1 1)" : "", figure);
}

export function paintRabbit(brush: Brush): string {
  const { tone, random } = brush;
  const fur = brush.colours[0] ?? random.pick(["#f2ece3", "#b8a590", "#8f8a8c", "#d9c2a0"]);
  const [body, pale, dark] = [tone(fur), tone(lighten(fur, 0.5)), tone(darken(fur, 0.3))];
  const ear = (s: number, tilt: number) =>
    group(
      `rotate(${tilt} ${s * 7} -66)`,
      ellipse(s * 7, -84, 6, 18, body) + ellipse(s * 7, -83, 3, 13, tone(mix("#f0a8b0", fur, 0.2))),
    );
  return (
    circle(24, -12, 8, pale) +
    path("M-14 -46C-28 -30 -28 -10 -20 0H22C32 -12 28 -34 12 -46Z", body) +
    ellipse(0, -20, 12, 18, pale) +
    ellipse(-13, -3, 12, 5, body) +
    ellipse(13, -3, 12, 5, body) +
    stroke("M18 -28Q28 -18 22 -6", dark, 1.2) +
    ear(-1, -8) +
    ear(1, 10) +
    ellipse(0, -54, 18, 16, body) +
    ellipse(0, -48, 9, 7, pale) +
    [-8, 8].map((x) => circle(x, -58, 3, "#2a1c1c") + circle(x - 1, -59, 1, "#ffffff")).join("") +
    path("M-2.500 -52H2.500L0 -49.500Z", tone("#e27f86")) +
    stroke("M0 -49.500V-47Q-2 -45 -5 -45.500M0 -47Q2 -45 5 -45.500", dark, 0.9)
  );
}
