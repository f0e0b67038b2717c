"""`fabricd doctor`: what the daemon rests on, judged. Each module looks first and decides after."""
