import java.io.FileWriter;
import java.util.Properties;
import java.util.TimeZone;
import org.quartz.CronScheduleBuilder;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/** Quartz with its store in memory. */
public class Quartz implements Job {
    static synchronized void record(String word) {
        try (var file = new FileWriter("jobs", true)) {
            file.write(word + " " + System.currentTimeMillis() / 1000.0 + "\n");
        } catch (Exception error) {
            System.exit(1);
        }
    }

    public void execute(JobExecutionContext context) {
        record(context.getJobDetail().getKey().getName());
    }

    public static void main(String[] words) throws Exception {
        var properties = new Properties();
        properties.put("org.quartz.threadPool.threadCount", "2");
        properties.put("org.quartz.scheduler.skipUpdateCheck", "true");
        var scheduler = new StdSchedulerFactory(properties).getScheduler();
        String[][] jobs = {
            {"a", "0 0-8/4 8 6 5 ?"},
            {"p", "0 20 8 6 5 ?"},
            {"b", "0 30 1-17/4 6 5 ?"},
            {"c", "0 0 12 7 5 ?"},
            {"d", "0 30 23 7 5 ?"},
        };
        for (var job : jobs) {
            var when = CronScheduleBuilder.cronSchedule(job[1]).inTimeZone(TimeZone.getTimeZone("UTC"));
            var trigger = TriggerBuilder.newTrigger().withSchedule(when).build();
            scheduler.scheduleJob(JobBuilder.newJob(Quartz.class).withIdentity(job[0]).build(), trigger);
        }
        scheduler.start();
        record("ready");
    }
}
