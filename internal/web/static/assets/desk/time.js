// Times as people say them. Each time is text of the API.

const moment = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });
const distance = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** The day and the time of day. */
export const exactly = (time) => moment.format(new Date(time));

/** How far away a time is, such as "in 3 days". */
export function fromNow(time) {
  const minutes = Math.round((new Date(time) - Date.now()) / 60_000);
  if (Math.abs(minutes) < 90) return distance.format(minutes, "minute");
  return minutes < 2880 ? distance.format(Math.round(minutes / 60), "hour") : distance.format(Math.round(minutes / 1440), "day");
}
